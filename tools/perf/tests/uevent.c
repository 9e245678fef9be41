// SPDX-License-Identifier: GPL-2.0
#include <byteswap.h>
#include <errno.h>
#include <linux/compiler.h>
#include <linux/err.h>
#include <linux/kernel.h>
#include <linux/perf_event.h>
#include <linux/zalloc.h>
#include <perf/event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "data.h"
#include "debug.h"
#include "event.h"
#include "header.h"
#include "memswap.h"
#include "sample.h"
#include "session.h"
#include "tests.h"
#include "tool.h"
#include "uevent.h"

/* Initializes with a string literal, NULs inside included. */
#define BYTES(s)	.data = (s), .size = sizeof(s) - 1

static const struct text_test {
	const char *name;
	const char *data;
	size_t size;
	const char *shown;
} text_tests[] = {
	{ "empty", BYTES(""), "" },
	{ "ASCII", BYTES("Hello, world! 100%s ~"), "Hello, world! 100%s ~" },
	{ "letters", BYTES("\a\b\t\n\v\f\r"), "\\a\\b\\t\\n\\v\\f\\r" },
	{ "backslash", BYTES("C:\\n"), "C:\\\\n" },
	{ "quote", BYTES("say \"hi\""), "say \\\"hi\\\"" },
	{ "looks escaped", BYTES("\\x1b"), "\\\\x1b" },
	{ "NUL", BYTES("a\0b\0"), "a\\x00b\\x00" },
	{ "other controls", BYTES("\x01\x0e\x1f\x7f"), "\\x01\\x0e\\x1f\\x7f" },
	{ "hex digit next", BYTES("\0011"), "\\x011" },
	{ "colour", BYTES("\x1b[31mred"), "\\x1b[31mred" },
	{ "title", BYTES("\x1b]0;owned\x07"), "\\x1b]0;owned\\a" },
	{ "clipboard", BYTES("\x1b]52;c;ZQ==\x1b\\"), "\\x1b]52;c;ZQ==\\x1b\\\\" },

	{ "two bytes", BYTES("\xc2\xa0\xdf\xbf"), "\xc2\xa0\xdf\xbf" },
	{ "three bytes", BYTES("\xe0\xa0\x80\xef\xbf\xbd"), "\xe0\xa0\x80\xef\xbf\xbd" },
	{ "four bytes", BYTES("\xf0\x90\x80\x80\xf4\x8f\xbf\xbf"),
	  "\xf0\x90\x80\x80\xf4\x8f\xbf\xbf" },
	{ "around the surrogates", BYTES("\xed\x9f\xbf\xee\x80\x80"),
	  "\xed\x9f\xbf\xee\x80\x80" },

	{ "C1 as bytes", BYTES("\x80\x9bm\x9f"), "\\x80\\x9bm\\x9f" },
	{ "C1 as UTF-8", BYTES("\xc2\x80\xc2\x9b\xc2\x9f"),
	  "\\xc2\\x80\\xc2\\x9b\\xc2\\x9f" },
	{ "soft hyphen", BYTES("\xc2\xac\xc2\xad\xc2\xae"), "\xc2\xac\\xc2\\xad\xc2\xae" },
	{ "Arabic letter mark", BYTES("\xd8\x9b\xd8\x9c\xd8\x9d"),
	  "\xd8\x9b\\xd8\\x9c\xd8\x9d" },
	{ "Mongolian selectors", BYTES("\xe1\xa0\x8a\xe1\xa0\x8b\xe1\xa0\x8f\xe1\xa0\x90"),
	  "\xe1\xa0\x8a\\xe1\\xa0\\x8b\\xe1\\xa0\\x8f\xe1\xa0\x90" },
	{ "Hangul filler", BYTES("\xe3\x85\xa3\xe3\x85\xa4\xe3\x85\xa5"),
	  "\xe3\x85\xa3\\xe3\\x85\\xa4\xe3\x85\xa5" },
	{ "variation selectors", BYTES("\xef\xb7\xbf\xef\xb8\x80\xef\xb8\x8f\xef\xb8\x90"),
	  "\xef\xb7\xbf\\xef\\xb8\\x80\\xef\\xb8\\x8f\xef\xb8\x90" },
	{ "zero width and marks", BYTES("\xe2\x80\x8a\xe2\x80\x8b\xe2\x80\x8f\xe2\x80\x90"),
	  "\xe2\x80\x8a\\xe2\\x80\\x8b\\xe2\\x80\\x8f\xe2\x80\x90" },
	{ "line separator to override",
	  BYTES("\xe2\x80\xa7\xe2\x80\xa8\xe2\x80\xa9\xe2\x80\xaa\xe2\x80\xae\xe2\x80\xaf"),
	  "\xe2\x80\xa7\\xe2\\x80\\xa8\\xe2\\x80\\xa9\\xe2\\x80\\xaa\\xe2\\x80\\xae\xe2\x80\xaf" },
	{ "isolates",
	  BYTES("\xe2\x81\x9f\xe2\x81\xa0\xe2\x81\xa6\xe2\x81\xa9\xe2\x81\xaf\xe2\x81\xb0"),
	  "\xe2\x81\x9f\\xe2\\x81\\xa0\\xe2\\x81\\xa6\\xe2\\x81\\xa9\\xe2\\x81\\xaf\xe2\x81\xb0" },
	{ "byte order mark", BYTES("\xef\xbb\xbfz"), "\\xef\\xbb\\xbfz" },
	{ "annotation", BYTES("\xef\xbf\xb8\xef\xbf\xb9\xef\xbf\xbb\xef\xbf\xbc"),
	  "\xef\xbf\xb8\\xef\\xbf\\xb9\\xef\\xbf\\xbb\xef\xbf\xbc" },
	{ "tags", BYTES("\xf3\xa0\x80\x81\xf3\xa0\xbf\xbf\xf3\xa1\x80\x80"),
	  "\\xf3\\xa0\\x80\\x81\\xf3\\xa0\\xbf\\xbf\xf3\xa1\x80\x80" },

	{ "lone continuation", BYTES("y\xbfz"), "y\\xbfz" },
	{ "overlong, two bytes", BYTES("\xc0\xaf\xc1\xbf"), "\\xc0\\xaf\\xc1\\xbf" },
	{ "overlong ESC", BYTES("\xe0\x80\x9b\xf0\x80\x80\x9b"),
	  "\\xe0\\x80\\x9b\\xf0\\x80\\x80\\x9b" },
	{ "overlong, three bytes", BYTES("\xe0\x9f\xbf"), "\\xe0\\x9f\\xbf" },
	{ "overlong, four bytes", BYTES("\xf0\x8f\xbf\xbf"), "\\xf0\\x8f\\xbf\\xbf" },
	{ "surrogates", BYTES("\xed\xa0\x80\xed\xbf\xbf"),
	  "\\xed\\xa0\\x80\\xed\\xbf\\xbf" },
	{ "above U+10FFFF", BYTES("\xf4\x90\x80\x80\xf5\x80\x80\x80\xff"),
	  "\\xf4\\x90\\x80\\x80\\xf5\\x80\\x80\\x80\\xff" },
	{ "cut, two bytes", BYTES("\xc3"), "\\xc3" },
	{ "cut, three bytes", BYTES("\xe2\x82"), "\\xe2\\x82" },
	{ "cut, four bytes", BYTES("\xf0\x9f\x98"), "\\xf0\\x9f\\x98" },
	{ "cut where the rest follows", .data = "\xe2\x82\xac", .size = 2, "\\xe2\\x82" },
	{ "cut by ASCII", BYTES("\xe2\x82z\xf0\x9f\x98\n"), "\\xe2\\x82z\\xf0\\x9f\\x98\\n" },
	{ "cut by the next", BYTES("\xe2\xc3\xa9"), "\\xe2\xc3\xa9" },
};

/* What fprintf_fn() prints; to be freed. */
static char *printed(size_t (*fprintf_fn)(const void *arg, FILE *fp), const void *arg)
{
	char *buf = NULL;
	size_t size, ret;
	FILE *fp = open_memstream(&buf, &size);

	if (!fp)
		return NULL;
	ret = fprintf_fn(arg, fp);
	fclose(fp);
	if (ret == size && strlen(buf) == size)
		return buf;

	pr_debug("FAILED fprintf: %zu bytes, returned %zu\n", size, ret);
	free(buf);
	return NULL;
}

static size_t fprintf_text_test(const void *arg, FILE *fp)
{
	const struct text_test *t = arg;

	return uevent__fprintf_text(t->data, t->size, fp);
}

static int check_str(const char *name, const char *got, const char *expected)
{
	if (got && !strcmp(got, expected))
		return 0;

	pr_debug("FAILED %s: got '%s', expected '%s'\n", name, got ?: "nothing", expected);
	return -1;
}

static int check_text(const struct text_test *t)
{
	char buf[256];
	size_t len = uevent__scnprintf_text(buf, sizeof(buf), t->data, t->size);
	char *str = printed(fprintf_text_test, t);
	int err = check_str(t->name, str, t->shown);

	free(str);
	if (len != strlen(buf))
		err = -1;

	return check_str(t->name, buf, t->shown) ?: err;
}

static int test__uevent_text(struct test_suite *test __maybe_unused, int subtest __maybe_unused)
{
	int err = 0;

	for (size_t i = 0; i < ARRAY_SIZE(text_tests); i++)
		err |= check_text(&text_tests[i]);

	return err ? TEST_FAIL : TEST_OK;
}

/* Whatever the size of the buffer, no escape or character is cut in two. */
static int test__uevent_text_cut(struct test_suite *test __maybe_unused,
				 int subtest __maybe_unused)
{
	static const char text[] = "a\xe2\x82\xac\n\x1b\xe2\x80\xae";
	static const char *const expected[] = {
		"",
		"",
		"a", "a", "a",
		"a\xe2\x82\xac", "a\xe2\x82\xac",
		"a\xe2\x82\xac\\n", "a\xe2\x82\xac\\n", "a\xe2\x82\xac\\n", "a\xe2\x82\xac\\n",
		"a\xe2\x82\xac\\n\\x1b",
	};
	char buf[ARRAY_SIZE(expected) + 1];

	for (size_t size = 0; size < ARRAY_SIZE(expected); size++) {
		size_t len;

		memset(buf, '#', sizeof(buf));
		buf[sizeof(buf) - 1] = '\0';
		len = uevent__scnprintf_text(buf, size, text, sizeof(text) - 1);
		TEST_ASSERT_VAL("bytes behind the buffer", buf[size] == '#');
		if (!size)
			continue;
		TEST_ASSERT_VAL("cut", !check_str("cut", buf, expected[size]));
		TEST_ASSERT_VAL("length", len == strlen(expected[size]));
	}

	return TEST_OK;
}

static const struct valid_test {
	u16 header_size;
	u32 size;
	size_t id_size;
	bool valid;
} valid_tests[] = {
	/* no room for the size itself */
	{ 0, 0, 0, false },
	{ 8, 0, 0, false },
	{ 15, 0, 0, false },
	/* an empty payload, also with a sample_id, whole and cut short */
	{ 16, 0, 0, true },
	{ 32, 0, 16, true },
	{ 24, 0, 16, false },
	/* one byte too many */
	{ 16, 1, 0, false },
	{ 24, 8, 0, true },
	{ 24, 9, 0, false },
	{ 40, 8, 16, true },
	{ 40, 9, 16, false },
	/* the largest, and sizes that wrap around if something is added */
	{ 16 + PERF_UEVENT_MAX_SIZE + 48, PERF_UEVENT_MAX_SIZE, 48, true },
	{ 16 + PERF_UEVENT_MAX_SIZE + 48, PERF_UEVENT_MAX_SIZE + 1, 48, false },
	{ 65528, 65512, 0, true },
	{ 65528, 65513, 0, false },
	{ 24, 0x7fffffff, 0, false },
	{ 24, 0x80000000, 0, false },
	{ 24, 0xfffffff0, 0, false },
	{ 24, 0xffffffff, 0, false },
	{ 24, 0, SIZE_MAX, false },
};

static int test__uevent_size(struct test_suite *test __maybe_unused, int subtest __maybe_unused)
{
	int err = TEST_OK;

	for (size_t i = 0; i < ARRAY_SIZE(valid_tests); i++) {
		const struct valid_test *t = &valid_tests[i];
		struct perf_record_uevent event = {
			.header.size = t->header_size,
			.size = t->size,
		};

		if (uevent__is_valid(&event, t->id_size) == t->valid)
			continue;
		pr_debug("FAILED header.size %u, size %u, id_size %zu is %s valid\n",
			 t->header_size, t->size, t->id_size, t->valid ? "not" : "taken as");
		err = TEST_FAIL;
	}

	return err;
}

/*
 * Records are allocated to their exact size, so that memory checkers see reads
 * beyond it. @room is for what follows the payload.
 */
static struct perf_record_uevent *new_record(u32 type, const void *data, u32 size, size_t room)
{
	size_t record_size = PERF_ALIGN(sizeof(struct perf_record_uevent) + size, sizeof(u64));
	struct perf_record_uevent *record = zalloc(record_size + room);

	if (!record)
		return NULL;

	record->header.type = PERF_RECORD_UEVENT;
	record->header.misc = PERF_RECORD_MISC_USER;
	record->header.size = record_size + room;
	record->type = type;
	record->size = size;
	memcpy(record->data, data, size);

	return record;
}

static size_t fprintf_record(const void *arg, FILE *fp)
{
	return uevent__fprintf(arg, fp);
}

static int check_record(const struct perf_record_uevent *record, const char *expected)
{
	char *str = record ? printed(fprintf_record, record) : NULL;
	int err = check_str("record", str, expected);

	free(str);
	return err;
}

#define HEX_16		" 00 01 02 03 04 05 06 07 08 09 0a 0b 0c 0d 0e 0f"
#define HEX_ZEROES_16	" 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00"
#define ZEROES_16	"\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"
#define DATA_64		"\0\1\2\3\4\5\6\7\10\11\12\13\14\15\16\17" ZEROES_16 ZEROES_16 ZEROES_16

static const struct record_test {
	u32 type;
	const char *data;
	size_t size;
	const char *shown;
} record_tests[] = {
	{ 0, BYTES(""), " type 0 text, size 0: \"\"" },
	{ 0, BYTES("\0"), " type 0 text, size 1: \"\"" },
	{ 0, BYTES("hello"), " type 0 text, size 5: \"hello\"" },
	{ 0, BYTES("hello\0"), " type 0 text, size 6: \"hello\"" },
	{ 0, BYTES("hello\0\0"), " type 0 text, size 7: \"hello\\x00\"" },
	{ 0, BYTES("\0hello"), " type 0 text, size 6: \"\\x00hello\"" },
	{ 0, BYTES(" a\n"), " type 0 text, size 3: \" a\\n\"" },
	{ 1, BYTES(""), " type 0x1 unknown, size 0:" },
	{ 1, BYTES("A"), " type 0x1 unknown, size 1: 41" },
	{ 1, BYTES("A\0"), " type 0x1 unknown, size 2: 41 00" },
	{ 0x7fffffff, BYTES("A"), " type 0x7fffffff unknown, size 1: 41" },
	{ 0x80000000, BYTES("A"), " type 0x80000000 private, size 1: 41" },
	{ 0xffffffff, BYTES("\xff\0\x80"), " type 0xffffffff private, size 3: ff 00 80" },
	{ 2, BYTES(DATA_64),
	  " type 0x2 unknown, size 64:" HEX_16 HEX_ZEROES_16 HEX_ZEROES_16 HEX_ZEROES_16 },
	{ 2, BYTES(DATA_64 "\1"),
	  " type 0x2 unknown, size 65:" HEX_16 HEX_ZEROES_16 HEX_ZEROES_16 HEX_ZEROES_16 " ..." },
};

static int test__uevent_record(struct test_suite *test __maybe_unused, int subtest __maybe_unused)
{
	int err = 0;

	for (size_t i = 0; i < ARRAY_SIZE(record_tests); i++) {
		const struct record_test *t = &record_tests[i];
		struct perf_record_uevent *record = new_record(t->type, t->data, t->size, 0);

		err |= check_record(record, t->shown);
		if (record) {
			record->size = record->header.size - sizeof(*record) + 1;
			err |= check_record(record, " invalid size");
		}
		free(record);
	}

	return err ? TEST_FAIL : TEST_OK;
}

/* The largest text of the longest escapes is shown whole. */
static int test__uevent_record_max(struct test_suite *test __maybe_unused,
				   int subtest __maybe_unused)
{
	static u8 data[PERF_UEVENT_MAX_SIZE];
	struct perf_record_uevent *record;
	size_t prefix_len = strlen(" type 0 text, size 65280: \"");
	char *str;
	int err;

	memset(data, 0xff, sizeof(data));
	record = new_record(PERF_UEVENT_TYPE_TEXT, data, sizeof(data), 0);
	TEST_ASSERT_VAL("memory", record);

	str = printed(fprintf_record, record);
	err = !str || strlen(str) != prefix_len + 4 * sizeof(data) + strlen("\"");
	for (size_t i = 0; !err && i < sizeof(data); i++)
		err = memcmp(str + prefix_len + 4 * i, "\\xff", 4);

	free(str);
	free(record);
	return err ? TEST_FAIL : TEST_OK;
}

/* What the records in the files below end with: PERF_SAMPLE_TID and TIME. */
struct test_sample_id {
	u32 pid;
	u32 tid;
	u64 time;
};

static const char largest[PERF_UEVENT_MAX_SIZE] = { [sizeof(largest) - 1] = 'z' };

static const struct file_test {
	u32 type;
	const char *data;
	u32 size;
	/* added to the record's size field and to its header's */
	int size_error;
	int header_size_error;
	bool delivered;
} file_tests[] = {
	{ 0, BYTES("first"), 0, 0, true },
	{ 0x80000001, BYTES("\1\2\3\4\5\6\7\10"), 0, 0, true },
	/* into the sample_id, beyond the record, wrapping around */
	{ 0, BYTES("bad"), 6, 0, false },
	{ 0, BYTES("bad"), 22, 0, false },
	{ 0, BYTES("bad"), 0x7fffffff, 0, false },
	{ 0, BYTES("bad"), -4, 0, false },
	{ 5, BYTES(""), 0, 0, true },
	/* records cut short: in the sample_id, before the size */
	{ 0, BYTES("bad"), 0, -8, false },
	{ 0, BYTES(""), 0, -24, false },
	{ 0x80000002, largest, sizeof(largest), 0, 0, true },
	{ 0, BYTES("last\0"), 0, 0, true },
};

static u16 file_record_size(const struct file_test *t)
{
	return PERF_ALIGN(sizeof(struct perf_record_uevent) + t->size, sizeof(u64)) +
	       sizeof(struct test_sample_id) + t->header_size_error;
}

static u64 file_data_size(void)
{
	u64 size = 0;

	for (size_t i = 0; i < ARRAY_SIZE(file_tests); i++)
		size += file_record_size(&file_tests[i]);

	return size;
}

struct file_tool {
	struct perf_tool tool;
	size_t nr_delivered;
	bool failed;
};

/* The next one that is to be delivered, NULL if there is none. */
static const struct file_test *next_delivered(size_t nr, size_t *index)
{
	for (size_t i = 0; i < ARRAY_SIZE(file_tests); i++) {
		*index = i;
		if (file_tests[i].delivered && !nr--)
			return &file_tests[i];
	}

	return NULL;
}

static int check_delivered(const struct perf_record_uevent *event,
			   const struct perf_sample *sample, size_t nr)
{
	size_t i;
	const struct file_test *t = next_delivered(nr, &i);

	TEST_ASSERT_VAL("delivered too many", t);
	TEST_ASSERT_VAL("wrong type", event->type == t->type);
	TEST_ASSERT_VAL("wrong size", event->size == t->size);
	TEST_ASSERT_VAL("wrong data", !memcmp(event->data, t->data, t->size));
	TEST_ASSERT_VAL("wrong pid", sample->pid == 0x10000 + i);
	TEST_ASSERT_VAL("wrong tid", sample->tid == 0x20000 + i);
	TEST_ASSERT_VAL("wrong time", sample->time == 0x300000000ULL + i);

	return TEST_OK;
}

static int process_uevent(const struct perf_tool *tool, union perf_event *event,
			  struct perf_sample *sample, struct machine *machine __maybe_unused)
{
	struct file_tool *ft = container_of(tool, struct file_tool, tool);

	if (check_delivered(&event->uevent, sample, ft->nr_delivered++) != TEST_OK)
		ft->failed = true;

	return 0;
}

static void swap_header(struct perf_event_header *header)
{
	header->type = bswap_32(header->type);
	header->misc = bswap_16(header->misc);
	header->size = bswap_16(header->size);
}

static void swap_sample_id(struct test_sample_id *id)
{
	id->pid = bswap_32(id->pid);
	id->tid = bswap_32(id->tid);
	id->time = bswap_64(id->time);
}

/* Bit fields fill up from the other end in the other byte order. */
static u8 reverse_bits(u8 byte)
{
	u8 reversed = 0;

	for (int i = 0; i < 8; i++)
		reversed |= ((byte >> i) & 1) << (7 - i);

	return reversed;
}

static void swap_attr(struct perf_event_attr *attr)
{
	u8 *flags = (u8 *)attr + offsetof(struct perf_event_attr, read_format) + sizeof(u64);

	attr->type = bswap_32(attr->type);
	attr->size = bswap_32(attr->size);
	attr->config = bswap_64(attr->config);
	attr->sample_type = bswap_64(attr->sample_type);
	for (size_t i = 0; i < sizeof(u64); i++)
		flags[i] = reverse_bits(flags[i]);
}

/* A file without features: header, one attr, and the records up to its end. */
static bool write_file_header(FILE *fp, u64 data_size, bool swap)
{
	struct {
		struct perf_file_header header;
		struct perf_event_attr attr;
		struct perf_file_section ids;
	} start = {
		.header.size = offsetof(struct perf_file_header, adds_features),
		.header.attr_size = sizeof(start.attr) + sizeof(start.ids),
		.header.attrs.offset = offsetof(typeof(start), attr),
		.header.attrs.size = sizeof(start.attr) + sizeof(start.ids),
		.header.data.offset = sizeof(start),
		.header.data.size = data_size,
		.attr.type = PERF_TYPE_SOFTWARE,
		.attr.size = sizeof(start.attr),
		.attr.config = PERF_COUNT_SW_DUMMY,
		.attr.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME,
		.attr.sample_id_all = 1,
		.attr.uevent = 1,
	};

	memcpy(&start.header.magic, "PERFILE2", sizeof(start.header.magic));
	if (swap) {
		mem_bswap_64(&start.header, offsetof(struct perf_file_header, adds_features));
		swap_attr(&start.attr);
	}

	return fwrite(&start, sizeof(start), 1, fp) == 1;
}

static bool write_record(FILE *fp, size_t i, bool swap)
{
	const struct file_test *t = &file_tests[i];
	struct perf_record_uevent *record;
	struct test_sample_id id = {
		.pid = 0x10000 + i,
		.tid = 0x20000 + i,
		.time = 0x300000000ULL + i,
	};
	bool ok;

	record = new_record(t->type, t->data, t->size, sizeof(id));
	if (!record)
		return false;

	record->size += t->size_error;
	if (swap) {
		swap_sample_id(&id);
		record->type = bswap_32(record->type);
		record->size = bswap_32(record->size);
	}
	memcpy((void *)record + record->header.size - sizeof(id), &id, sizeof(id));

	record->header.size = file_record_size(t);
	if (swap)
		swap_header(&record->header);

	ok = fwrite(record, file_record_size(t), 1, fp) == 1;
	free(record);
	return ok;
}

static int read_file(const char *path, struct file_tool *ft)
{
	struct perf_data data = {
		.path = path,
		.mode = PERF_DATA_MODE_READ,
		.force = true,
	};
	struct perf_session *session;
	int err;

	perf_tool__init(&ft->tool, /*ordered_events=*/true);
	ft->tool.uevent = process_uevent;

	session = perf_session__new(&data, &ft->tool);
	if (IS_ERR(session))
		return PTR_ERR(session);

	err = perf_session__process_events(session);
	perf_session__delete(session);

	return err;
}

static bool write_file(FILE *fp, u64 data_size, bool swap)
{
	bool ok = write_file_header(fp, data_size, swap);

	for (size_t i = 0; ok && i < ARRAY_SIZE(file_tests); i++)
		ok = write_record(fp, i, swap);

	return !fclose(fp) && ok;
}

static int write_and_read_file(struct file_tool *ft, u64 data_size, bool swap)
{
	char path[] = "/tmp/perf-uevent-test-XXXXXX";
	int fd = mkstemp(path);
	FILE *fp = fd >= 0 ? fdopen(fd, "w") : NULL;
	int err;

	if (!fp)
		return -errno;

	err = write_file(fp, data_size, swap) ? read_file(path, ft) : -EIO;
	unlink(path);

	return err;
}

/*
 * Good records arrive with their sample_id although bad ones stand in between,
 * whichever machine has written the file.
 */
static int check_file(bool swap)
{
	struct file_tool ft = { .nr_delivered = 0 };
	int err = write_and_read_file(&ft, file_data_size(), swap);
	size_t index;

	TEST_ASSERT_VAL("reading the file", !err);
	TEST_ASSERT_VAL("what was delivered", !ft.failed);
	TEST_ASSERT_VAL("delivered too few", !next_delivered(ft.nr_delivered, &index));

	return TEST_OK;
}

static int test__uevent_file(struct test_suite *test __maybe_unused, int subtest __maybe_unused)
{
	return check_file(/*swap=*/false);
}

static int test__uevent_file_swapped(struct test_suite *test __maybe_unused,
				     int subtest __maybe_unused)
{
	return check_file(/*swap=*/true);
}

/* The data end within the last record, then within its header. */
static int test__uevent_file_cut(struct test_suite *test __maybe_unused,
				 int subtest __maybe_unused)
{
	u16 last_size = file_record_size(&file_tests[ARRAY_SIZE(file_tests) - 1]);
	struct file_tool ft = { .nr_delivered = 0 };
	int err;

	err = write_and_read_file(&ft, file_data_size() - 8, /*swap=*/false);
	TEST_ASSERT_VAL("cut record", err == -EINVAL);

	err = write_and_read_file(&ft, file_data_size() - last_size + 4, /*swap=*/false);
	TEST_ASSERT_VAL("cut header", err == -EINVAL);

	return TEST_OK;
}

static struct test_case tests__uevent[] = {
	TEST_CASE("Text", uevent_text),
	TEST_CASE("Text cut to a buffer", uevent_text_cut),
	TEST_CASE("Sizes", uevent_size),
	TEST_CASE("Records", uevent_record),
	TEST_CASE("The largest record", uevent_record_max),
	TEST_CASE("File", uevent_file),
	TEST_CASE("File of the other byte order", uevent_file_swapped),
	TEST_CASE("File cut short", uevent_file_cut),
	{ .name = NULL, }
};

struct test_suite suite__uevent = {
	.desc = "Userspace events",
	.test_cases = tests__uevent,
};
