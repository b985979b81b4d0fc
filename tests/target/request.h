/* One request to the target and its answer. */
#ifndef S3_REQUEST_H
#define S3_REQUEST_H

#include "tests/target/buf.h"
#include "tests/target/fault.h"
#include "tests/target/store.h"

#include <microhttpd.h>

#define REQUEST_PARAMS_MAX 32
#define REPLY_HEADERS_MAX  16

/* How answers in XML begin, and the attribute of their root elements. */
#define REPLY_PROLOG "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
#define REPLY_NS     " xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\""

struct request_param {
    char *name;
    char *value; /* "" without '=' */
};

struct reply_header {
    const char *name;
    char value[160];
};

struct reply {
    int status;
    struct buf xml;    /* the body, unless there is a blob */
    struct blob *blob; /* the object of a GET or HEAD, `length` bytes from `offset` on */
    size_t offset;
    size_t length;
    struct reply_header headers[REPLY_HEADERS_MAX];
    size_t n_headers;
    uint64_t n_objects;
};

struct request {
    struct MHD_Connection *connection;
    int server;     /* index of the port */
    const char *op; /* as in the log: GET PUT STAT DELETE LIST ... */
    char method[16];
    char *raw_path;     /* as sent, without the query */
    char *raw_query;    /* as sent, without '?'; "" without one */
    char *target;       /* bucket and key point into it */
    const char *bucket; /* "" if none */
    const char *key;    /* decoded, "" if none */
    bool virtual_host;  /* the bucket came in the Host header */
    char *query;        /* the parameters point into it */
    struct request_param params[REQUEST_PARAMS_MAX];
    size_t n_params;
    struct blob *body; /* NULL if there was none */
    size_t n_body;
    const char *refused; /* error code, if the body was refused */
    struct reply reply;
    struct fault_plan plan;

    /* Times by CLOCK_MONOTONIC; 0: not reached. In order: request line read, body read, answer
     * queued, first and last byte of the body given to libmicrohttpd, all sent. */
    int64_t start_ns, received_ns, queued_ns, first_ns, last_ns, end_ns;
    int64_t start_real_ns; /* CLOCK_REALTIME of start_ns */
    size_t n_sent;
    const char *fault; /* the fault that was applied; "": none */
};

int64_t request_now_ns(clockid_t clock);

/* Makes a request for the raw target of its request line; NULL: out of memory. */
struct request *request_new(int server, const char *raw);
void request_free(struct request *r);

/* Decodes target and query. Virtual hosts end in "." and `domain`; NULL: there are none. Returns
 * NULL or an error code of S3. */
const char *request_parse(struct request *r, const char *domain);

/* Return the value of a header; of a query parameter. NULL: absent. */
const char *request_header(const struct request *r, const char *name);
const char *request_param(const struct request *r, const char *name);

bool request_is(const struct request *r, const char *method);

/* Returns the body as text, which the caller frees; NULL: out of memory. */
char *request_text(const struct request *r);

/* Contents of the small documents in requests, by the names of their elements. */
struct request_document {
    char status[16]; /* Status */
    char mode[16];   /* Mode */
    char until[40];  /* RetainUntilDate */
};

/* Reads the body; false: the reply is an error. */
bool request_document(struct request *r, struct request_document *d);

void reply_header(struct reply *reply, const char *name, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* Make the reply an error of that kind; always return false. */
bool reply_out_of_memory(struct reply *reply);

/* Makes the reply an error with this code and its status. */
void reply_error(struct reply *reply, const char *code, const char *message);

/* Calls on_text at the end of each element of XML text, with the element's own text (references
 * decoded). Skips attributes, comments and a prolog. Overwrites `text`. False: the elements are not
 * well-formed. */
bool request_xml(char *text, void (*on_text)(void *user, const char *name, const char *text),
                 void *user);

#endif
