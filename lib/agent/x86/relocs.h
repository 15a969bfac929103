/* SPDX-License-Identifier: MIT */
/* relocs.h - relocations by which a function of another object is imported. */
#ifndef AGENT_X86_RELOCS_H
#define AGENT_X86_RELOCS_H

#include <elf.h>

enum { IMPORT_GOT = R_X86_64_GLOB_DAT, IMPORT_PLT = R_X86_64_JUMP_SLOT };

#endif
