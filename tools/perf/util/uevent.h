/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_UEVENT_H
#define __PERF_UEVENT_H

#include <linux/types.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct perf_record_uevent;

/* Payload bytes that are shown of a type that is not text. */
#define UEVENT_HEX_MAX	64

bool uevent__is_valid(const struct perf_record_uevent *event, size_t id_size);
const char *uevent__type_name(u32 type);

size_t uevent__scnprintf_text(char *buf, size_t size, const void *text, size_t len);
size_t uevent__fprintf_text(const void *text, size_t len, FILE *fp);
size_t uevent__fprintf(const struct perf_record_uevent *event, FILE *fp);

#endif /* __PERF_UEVENT_H */
