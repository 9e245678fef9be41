// SPDX-License-Identifier: GPL-2.0
/*
 * Decoder for PERF_RECORD_UEVENT, whose payload is whatever a program chose to
 * emit. Nothing in here trusts a byte of it, and what is printed can neither
 * control the terminal nor pass for another payload.
 */
#include "uevent.h"

#include <linux/kernel.h>
#include <linux/perf_event.h>
#include <perf/event.h>
#include <string.h>

/* Four bytes, the longest UTF-8 sequence, each as \xNN. */
#define ESCAPED_MAX	(4 * 4)

/* A character of a text: where it ends and how it is shown. */
struct text_char {
	size_t	len;
	char	shown[ESCAPED_MAX + 1];
};

/*
 * What a terminal obeys, does not show or shows elsewhere. An escape in place
 * of a joiner or a variation selector costs an emoji its looks; that is cheaper
 * than two payloads which differ in something that cannot be seen.
 */
static const struct {
	u32	first;
	u32	last;
} hidden_chars[] = {
	/* C1 controls */
	{ 0x0080, 0x009f },
	/* soft hyphen */
	{ 0x00ad, 0x00ad },
	/* combining grapheme joiner */
	{ 0x034f, 0x034f },
	/* Arabic letter mark */
	{ 0x061c, 0x061c },
	/* Hangul fillers */
	{ 0x115f, 0x1160 },
	{ 0x3164, 0x3164 },
	{ 0xffa0, 0xffa0 },
	/* Khmer inherent vowels */
	{ 0x17b4, 0x17b5 },
	/* Mongolian variation selectors and vowel separator */
	{ 0x180b, 0x180f },
	/* zero width space and joiners, left-to-right and right-to-left mark */
	{ 0x200b, 0x200f },
	/* line and paragraph separator, bidi embeddings and overrides */
	{ 0x2028, 0x202e },
	/* word joiner, invisible operators, bidi isolates */
	{ 0x2060, 0x206f },
	/* variation selectors */
	{ 0xfe00, 0xfe0f },
	/* byte order mark */
	{ 0xfeff, 0xfeff },
	/* interlinear annotations */
	{ 0xfff9, 0xfffb },
	/* shorthand and musical format controls */
	{ 0x1bca0, 0x1bca3 },
	{ 0x1d173, 0x1d17a },
	/* tags, more variation selectors, and room for more of their kind */
	{ 0xe0000, 0xe0fff },
};

static bool is_hidden_char(u32 c)
{
	for (size_t i = 0; i < ARRAY_SIZE(hidden_chars); i++) {
		if (c >= hidden_chars[i].first && c <= hidden_chars[i].last)
			return true;
	}

	return false;
}

/* The length of the UTF-8 sequence that starts with @lead, 0 for none. */
static size_t utf8_len(u8 lead)
{
	if (lead < 0x80)
		return 1;
	/* 0xc0 and 0xc1 could only start an overlong sequence */
	if (lead < 0xc2)
		return 0;
	if (lead < 0xe0)
		return 2;
	if (lead < 0xf0)
		return 3;
	if (lead < 0xf5)
		return 4;

	return 0;
}

/*
 * Returns the length of the character at the start of @text, or 0 where these
 * bytes are not UTF-8: cut short, overlong, a surrogate or above U+10FFFF.
 */
static size_t utf8_decode(const u8 *text, size_t len, u32 *c)
{
	static const u32 min[] = { 0, 0, 0x80, 0x800, 0x10000 };
	size_t char_len = utf8_len(text[0]);

	if (!char_len || char_len > len)
		return 0;

	*c = char_len == 1 ? text[0] : text[0] & (0x7f >> char_len);
	for (size_t i = 1; i < char_len; i++) {
		if ((text[i] & 0xc0) != 0x80)
			return 0;
		*c = *c << 6 | (text[i] & 0x3f);
	}

	if (*c < min[char_len] || *c > 0x10ffff || (*c >= 0xd800 && *c <= 0xdfff))
		return 0;

	return char_len;
}

/* The letter that follows the backslash, 0 where there is none for @c. */
static char escape_letter(u8 c)
{
	switch (c) {
	case '\a': return 'a';
	case '\b': return 'b';
	case '\t': return 't';
	case '\n': return 'n';
	case '\v': return 'v';
	case '\f': return 'f';
	case '\r': return 'r';
	case '"':
	case '\\':
		return c;
	default:
		return 0;
	}
}

static void escape_bytes(struct text_char *tc, const u8 *text, size_t len)
{
	size_t pos = 0;

	tc->len = len;
	for (size_t i = 0; i < len; i++)
		pos += scnprintf(tc->shown + pos, sizeof(tc->shown) - pos, "\\x%02x", text[i]);
}

static void text_char__init(struct text_char *tc, const u8 *text, size_t len)
{
	char letter = escape_letter(text[0]);
	size_t char_len;
	u32 c;

	if (letter) {
		tc->len = 1;
		scnprintf(tc->shown, sizeof(tc->shown), "\\%c", letter);
		return;
	}

	char_len = utf8_decode(text, len, &c);
	if (!char_len) {
		escape_bytes(tc, text, 1);
	} else if (c < ' ' || c == 0x7f || is_hidden_char(c)) {
		escape_bytes(tc, text, char_len);
	} else {
		tc->len = char_len;
		memcpy(tc->shown, text, char_len);
		tc->shown[char_len] = '\0';
	}
}

/**
 * uevent__scnprintf_text - Escape text of unknown origin into a buffer
 * @buf: where to put it, NUL-terminated unless @size is 0
 * @size: size of @buf
 * @text: the bytes, need not be terminated
 * @len: number of bytes
 *
 * Printable UTF-8 is kept. Control characters, bytes that are not UTF-8, and
 * what a terminal would not show or would reorder become C escapes, the latter
 * byte by byte as \xNN with always two digits; so do backslash and double
 * quote. The bytes of a text can be told from what is shown. Text that does not
 * fit ends before the first character that is left out.
 *
 * Return: number of bytes in @buf, without the NUL.
 */
size_t uevent__scnprintf_text(char *buf, size_t size, const void *text, size_t len)
{
	const u8 *p = text;
	size_t pos = 0;

	if (!size)
		return 0;

	while (len) {
		struct text_char tc;
		size_t shown_len;

		text_char__init(&tc, p, len);
		shown_len = strlen(tc.shown);
		if (shown_len >= size - pos)
			break;
		memcpy(buf + pos, tc.shown, shown_len);
		pos += shown_len;
		p += tc.len;
		len -= tc.len;
	}
	buf[pos] = '\0';

	return pos;
}

/**
 * uevent__fprintf_text - Print text of unknown origin
 * @text: the bytes, need not be terminated
 * @len: number of bytes
 * @fp: where to print
 *
 * Escapes like uevent__scnprintf_text(), but never cuts.
 *
 * Return: number of bytes printed.
 */
size_t uevent__fprintf_text(const void *text, size_t len, FILE *fp)
{
	const u8 *p = text;
	size_t printed = 0;

	while (len) {
		struct text_char tc;

		text_char__init(&tc, p, len);
		printed += fprintf(fp, "%s", tc.shown);
		p += tc.len;
		len -= tc.len;
	}

	return printed;
}

static size_t uevent__fprintf_hex(const u8 *data, size_t len, FILE *fp)
{
	size_t printed = 0;

	for (size_t i = 0; i < len && i < UEVENT_HEX_MAX; i++)
		printed += fprintf(fp, " %02x", data[i]);
	if (len > UEVENT_HEX_MAX)
		printed += fprintf(fp, " ...");

	return printed;
}

/**
 * uevent__is_valid - Check that the payload lies within its record
 * @event: the record, of which header.size bytes are readable
 * @id_size: size of the sample_id at its end
 *
 * To be called before anything else looks at the payload.
 *
 * Return: true if the payload can be read.
 */
bool uevent__is_valid(const struct perf_record_uevent *event, size_t id_size)
{
	size_t room = event->header.size;

	if (room < offsetof(struct perf_record_uevent, data))
		return false;
	room -= offsetof(struct perf_record_uevent, data);

	if (room < id_size)
		return false;
	room -= id_size;

	return event->size <= room;
}

/**
 * uevent__type_name - Name what a payload holds
 * @type: type of the record
 *
 * Return: the type's name, "private" or "unknown".
 */
const char *uevent__type_name(u32 type)
{
	if (type >= PERF_UEVENT_TYPE_PRIVATE)
		return "private";

	return type == PERF_UEVENT_TYPE_TEXT ? "text" : "unknown";
}

/**
 * uevent__fprintf - Print type, size and payload of a record
 * @event: the record, of which header.size bytes are readable
 * @fp: where to print
 *
 * One line without its end. Text is printed whole, in double quotes and
 * escaped; a NUL at its end is not shown. The quotes also keep parsers of perf
 * script's output from taking a text's end for the name of an event. Of other
 * types the first %UEVENT_HEX_MAX bytes are shown in hex, then dots.
 *
 * Return: number of bytes printed.
 */
size_t uevent__fprintf(const struct perf_record_uevent *event, FILE *fp)
{
	size_t len = event->size;
	size_t printed;

	if (!uevent__is_valid(event, /*id_size=*/0))
		return fprintf(fp, " invalid size");

	printed = fprintf(fp, " type %#x %s, size %u:", event->type,
			  uevent__type_name(event->type), event->size);

	if (event->type != PERF_UEVENT_TYPE_TEXT)
		return printed + uevent__fprintf_hex(event->data, len, fp);

	if (len && !event->data[len - 1])
		len--;

	printed += fprintf(fp, " \"");
	printed += uevent__fprintf_text(event->data, len, fp);
	printed += fprintf(fp, "\"");

	return printed;
}
