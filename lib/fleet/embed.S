/* SPDX-License-Identifier: GPL-2.0-or-later */
	.section .rodata
	.globl sql_clickhouse, sql_duckdb, sql_rollup, sql_views
sql_clickhouse:
	.incbin "lib/fleet/sql/clickhouse.sql"
	.byte 0
sql_duckdb:
	.incbin "lib/fleet/sql/duckdb.sql"
	.byte 0
sql_rollup:
	.incbin "lib/fleet/sql/rollup.sql"
	.byte 0
sql_views:
	.incbin "lib/fleet/sql/queries.sql"
	.byte 0
	.section .note.GNU-stack, "", %progbits
