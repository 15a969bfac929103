/* SPDX-License-Identifier: GPL-2.0-or-later */
	.section .rodata
	.globl page_html, page_html_end, page_style, page_style_end, page_script, page_script_end
page_html:
	.incbin "lib/page/page.html"
page_html_end:
page_style:
	.incbin "lib/page/style.css"
page_style_end:
page_script:
	.incbin PAGE_SCRIPT
page_script_end:
	.section .note.GNU-stack, "", %progbits
