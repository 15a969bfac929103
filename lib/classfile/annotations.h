/* SPDX-License-Identifier: MIT */
/*
 * annotations.h - what annotations of a method say that matters to probes.
 */
#ifndef CLASSFILE_ANNOTATIONS_H
#define CLASSFILE_ANNOTATIONS_H

#include "classfile/class.h"

/*
 * attr: contents of a RuntimeVisibleAnnotations. True for @IntrinsicCandidate (JDK 16) and
 * @HotSpotIntrinsicCandidate (JDK 9), unless it comes after one with elements that are no constants.
 */
bool annotations_have_intrinsic(const struct pool *p, struct reader attr);

#endif
