/* A part of a sentence, or a whole one, as a value. */
#ifndef S3_ANALYZE_BASE_PHRASE_H
#define S3_ANALYZE_BASE_PHRASE_H

struct phrase {
    char s[1024];
};

/* Returns formatted text, cut if it is longer. */
struct phrase phrase_format(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Appends formatted text, cut if there is no room for it. */
void phrase_append(struct phrase *to, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
