// SPDX-License-Identifier: GPL-2.0
/*
 * Mark the phases of a program in its profile.
 *
 * This program sorts the lines of a file, compresses the result and checks that
 * it decompresses to the same. Where each phase starts and ends it emits a
 * userspace event. perf shows these events between the samples, which tells
 * what the program was working on when it spent its time.
 *
 * Build it with CONFIG_SAMPLES=y and CONFIG_SAMPLE_PERF_UEVENT=y,
 *
 *	make samples/perf_uevent/
 *
 * or by itself, with the headers of a kernel that has userspace events:
 *
 *	make headers_install INSTALL_HDR_PATH=/tmp/uapi
 *	gcc -O2 -g -fno-omit-frame-pointer -I /tmp/uapi/include phases.c -o phases
 *
 * Record a profile, and show samples and events in the order of time:
 *
 *	perf record -e cpu-clock/uevent=1/ -g ./phases -n 3 MAINTAINERS
 *	perf script
 *
 * Without perf watching, and on kernels without userspace events, it does the
 * same work.
 */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>
#include <linux/perf_event.h>
#include <linux/prctl.h>

/*
 * Keeps a function apart in the callchains. Where the C library has no frame
 * pointers, the caller of one of its functions is missing from the chain. That
 * is why each phase below has its loops in a function of their own.
 */
#define noinline	__attribute__((__noinline__))
#define __printf(a, b)	__attribute__((__format__(printf, a, b)))

/*
 * Say once why events do not arrive and carry on: a program has to work where
 * nobody can watch it, too.
 */
static void uevent_warn_once(int error)
{
	static bool warned;

	if (warned)
		return;
	warned = true;

	if (error == EINVAL)
		warnx("no userspace events in this kernel, continuing without them");
	else
		warnx("cannot emit userspace event: %s", strerror(error));
}

/* Emit a line of text; what does not fit into the buffer is cut off. */
static void __printf(1, 2) uevent_printf(const char *fmt, ...)
{
	unsigned long len;
	char text[256];
	va_list args;
	int ret;

	va_start(args, fmt);
	ret = vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	if (ret < 0)
		return;

	len = ret;
	if (len >= sizeof(text))
		len = sizeof(text) - 1;

	/* prctl() is variadic: len has to be a long, and so has the last 0. */
	if (prctl(PR_TASK_PERF_UEVENT, PERF_UEVENT_TYPE_TEXT, len, text, 0L))
		uevent_warn_once(errno);
}

struct buffer {
	unsigned char		*data;
	size_t			size;
};

struct line {
	const unsigned char	*data;
	size_t			len;
};

struct lines {
	struct line		*line;
	size_t			nr;
};

static void *alloc_array(size_t nr, size_t size)
{
	/* One more, since an empty file is no reason to fail. */
	void *array = calloc(nr + 1, size);

	if (!array)
		err(EXIT_FAILURE, "calloc");

	return array;
}

static noinline struct buffer read_all(const char *path)
{
	struct buffer text = {};
	size_t room = 0;
	ssize_t ret;
	int fd;

	fd = open(path, O_RDONLY);
	if (fd < 0)
		err(EXIT_FAILURE, "%s", path);

	do {
		if (text.size == room) {
			room = room ? 2 * room : 65536;
			text.data = realloc(text.data, room);
			if (!text.data)
				err(EXIT_FAILURE, "realloc");
		}
		ret = read(fd, text.data + text.size, room - text.size);
		if (ret < 0)
			err(EXIT_FAILURE, "%s", path);
		text.size += ret;
	} while (ret);

	close(fd);

	return text;
}

static size_t count_lines(const struct buffer *text)
{
	size_t nr = 0;

	for (size_t pos = 0; pos < text->size; pos++)
		nr += text->data[pos] == '\n';

	/* The last line may lack its newline. */
	if (text->size && text->data[text->size - 1] != '\n')
		nr++;

	return nr;
}

static noinline struct lines split_lines(const struct buffer *text)
{
	const unsigned char *pos = text->data, *end = pos + text->size;
	struct lines lines = { .nr = count_lines(text) };

	lines.line = alloc_array(lines.nr, sizeof(*lines.line));

	for (size_t i = 0; i < lines.nr; i++) {
		const unsigned char *newline = memchr(pos, '\n', end - pos);

		lines.line[i].data = pos;
		lines.line[i].len = (newline ?: end) - pos;
		pos += lines.line[i].len + 1;
	}

	return lines;
}

static bool line_before(const struct line *a, const struct line *b)
{
	int diff = memcmp(a->data, b->data, a->len < b->len ? a->len : b->len);

	return diff ? diff < 0 : a->len < b->len;
}

/* Merge the sorted from[start..middle-1] and from[middle..end-1] into to[]. */
static void merge(struct line *to, const struct line *from,
		  size_t start, size_t middle, size_t end)
{
	size_t left = start, right = middle;

	for (size_t i = start; i < end; i++) {
		if (left < middle &&
		    (right == end || !line_before(&from[right], &from[left])))
			to[i] = from[left++];
		else
			to[i] = from[right++];
	}
}

static size_t min_size(size_t a, size_t b)
{
	return a < b ? a : b;
}

/*
 * A merge sort from the bottom up. The C library has qsort(), but is mostly
 * built without the frame pointers that callchains need to get through it.
 */
static noinline void merge_sort(struct lines *lines)
{
	struct line *from = lines->line, *tmp;
	struct line *to = alloc_array(lines->nr, sizeof(*to));

	for (size_t width = 1; width < lines->nr; width *= 2) {
		for (size_t i = 0; i < lines->nr; i += 2 * width)
			merge(to, from, i, min_size(i + width, lines->nr),
			      min_size(i + 2 * width, lines->nr));
		tmp = from;
		from = to;
		to = tmp;
	}

	lines->line = from;
	free(to);
}

static noinline struct buffer join_lines(const struct lines *lines)
{
	struct buffer text = {};
	unsigned char *pos;

	for (size_t i = 0; i < lines->nr; i++)
		text.size += lines->line[i].len + 1;

	text.data = alloc_array(text.size, 1);
	pos = text.data;

	for (size_t i = 0; i < lines->nr; i++) {
		memcpy(pos, lines->line[i].data, lines->line[i].len);
		pos += lines->line[i].len;
		*pos++ = '\n';
	}

	return text;
}

/*
 * The compressed format, a simple LZSS: groups of eight items, the last of them
 * may be short. A group starts with a byte that tells which items are matches,
 * the first item in its lowest bit; the others are literal bytes. A match takes
 * three bytes: how far to go back in the output, 16 bits little endian, and how
 * many bytes to copy from there, less MATCH_MIN.
 */
#define GROUP_ITEMS	8
#define MATCH_SIZE	3
#define MATCH_MIN	4
#define MATCH_MAX	(MATCH_MIN + 0xff)
#define DISTANCE_MAX	0xffff

#define HASH_BITS	15

struct match {
	size_t		distance;
	size_t		len;
};

static unsigned int hash(const unsigned char *data)
{
	unsigned int bytes;

	memcpy(&bytes, data, MATCH_MIN);

	return (bytes * 2654435761U) >> (32 - HASH_BITS);
}

/*
 * Look where the bytes at @pos came up last, and remember that they do here.
 * What @last says is only a hint: other bytes may share the hash.
 */
static struct match find_match(size_t *last, const struct buffer *in,
			       size_t pos)
{
	size_t max = min_size(in->size - pos, MATCH_MAX);
	const unsigned char *here = in->data + pos;
	struct match match = {};
	size_t *seen, found;

	if (max < MATCH_MIN)
		return match;

	seen = &last[hash(here)];
	found = *seen;
	*seen = pos;
	if (found == pos || pos - found > DISTANCE_MAX)
		return match;

	match.distance = pos - found;
	while (match.len < max && here[match.len] == in->data[found + match.len])
		match.len++;

	return match;
}

static noinline struct buffer lzss_compress(const struct buffer *in)
{
	size_t *last = alloc_array(1 << HASH_BITS, sizeof(*last));
	struct buffer out = {};
	size_t pos = 0, group = 0;

	/* Nothing but literals is the worst case. */
	out.data = alloc_array(in->size + in->size / GROUP_ITEMS + 1, 1);

	for (unsigned int item = 0; pos < in->size; item = (item + 1) % GROUP_ITEMS) {
		struct match match = find_match(last, in, pos);

		if (!item)
			group = out.size++;

		if (match.len < MATCH_MIN) {
			out.data[out.size++] = in->data[pos++];
			continue;
		}

		out.data[group] |= 1 << item;
		out.data[out.size++] = match.distance & 0xff;
		out.data[out.size++] = match.distance >> 8;
		out.data[out.size++] = match.len - MATCH_MIN;
		pos += match.len;
	}

	free(last);

	return out;
}

/* Byte by byte, since a match may reach into the bytes that it produces. */
static bool copy_match(struct buffer *out, size_t room,
		       const unsigned char *item)
{
	size_t distance = item[0] | item[1] << 8;
	size_t len = item[2] + MATCH_MIN;

	if (!distance || distance > out->size || len > room - out->size)
		return false;

	for (; len; len--, out->size++)
		out->data[out->size] = out->data[out->size - distance];

	return true;
}

/* Put at most @room bytes into @out; false where @in makes no sense. */
static noinline bool lzss_decompress(const struct buffer *in,
				     struct buffer *out, size_t room)
{
	unsigned int item = 0, matches = 0;

	for (size_t pos = 0; pos < in->size; item = (item + 1) % GROUP_ITEMS) {
		if (!item)
			matches = in->data[pos++];

		if (matches & (1 << item)) {
			if (in->size - pos < MATCH_SIZE ||
			    !copy_match(out, room, in->data + pos))
				return false;
			pos += MATCH_SIZE;
		} else {
			if (pos == in->size || out->size == room)
				return false;
			out->data[out->size++] = in->data[pos++];
		}
	}

	return true;
}

/* The phases: each emits an event at its start and at its end. */

static noinline struct buffer read_file(const char *path, struct lines *lines)
{
	struct buffer text;

	uevent_printf("read: start file=%s", path);
	text = read_all(path);
	*lines = split_lines(&text);
	uevent_printf("read: end bytes=%zu lines=%zu", text.size, lines->nr);

	return text;
}

static noinline struct buffer sort_lines(struct lines *lines)
{
	struct buffer sorted;

	uevent_printf("sort: start lines=%zu", lines->nr);
	merge_sort(lines);
	sorted = join_lines(lines);
	uevent_printf("sort: end bytes=%zu", sorted.size);

	return sorted;
}

static noinline struct buffer compress_text(const struct buffer *text)
{
	struct buffer packed;

	uevent_printf("compress: start in=%zu", text->size);
	packed = lzss_compress(text);
	uevent_printf("compress: end in=%zu out=%zu", text->size, packed.size);

	return packed;
}

static noinline bool verify_text(const struct buffer *packed,
				 const struct buffer *text)
{
	struct buffer out = {};
	bool same;

	uevent_printf("verify: start in=%zu", packed->size);
	out.data = alloc_array(text->size, 1);
	same = lzss_decompress(packed, &out, text->size) &&
	       out.size == text->size &&
	       !memcmp(out.data, text->data, text->size);
	uevent_printf("verify: end out=%zu same=%d", out.size, same);

	free(out.data);

	return same;
}

static void process(const char *path, bool print)
{
	struct buffer text, sorted, packed;
	struct lines lines;

	text = read_file(path, &lines);
	sorted = sort_lines(&lines);
	packed = compress_text(&sorted);
	if (!verify_text(&packed, &sorted))
		errx(EXIT_FAILURE, "%s: decompresses to something else", path);

	if (print)
		printf("%s: %zu lines, %zu bytes, sorted and compressed to %zu bytes\n",
		       path, lines.nr, text.size, packed.size);

	free(packed.data);
	free(sorted.data);
	free(lines.line);
	free(text.data);
}

static void usage(const char *name)
{
	fprintf(stderr, "Usage: %s [-n ROUNDS] FILE\n", name);
	exit(EXIT_FAILURE);
}

int main(int argc, char **argv)
{
	long rounds = 1;
	int opt;

	while ((opt = getopt(argc, argv, "n:")) != -1) {
		if (opt != 'n')
			usage(argv[0]);
		rounds = strtol(optarg, NULL, 10);
	}
	if (rounds < 1 || optind != argc - 1)
		usage(argv[0]);

	for (long round = 1; round <= rounds; round++)
		process(argv[optind], round == rounds);

	return EXIT_SUCCESS;
}
