// An operation: one method of one path of openapi/openapi.yaml, and the function that answers it.
// The build makes the table from the document (tools/generate_operations.py). `operationId` names the handler:
// op_<operationId>. A handler that is missing fails at link; one without an operation fails at compile, by
// -Wmissing-prototypes.
//
// To write a handler include "api/http/request.h", "api/http/response.h" and "api/operations.h" (the generated
// prototypes):
//
//     int op_get_project(struct request *req, struct response *res, struct error *err)
//     {
//         int64_t id;
//         if (check_project(req, ACTION_READ, &id, err) < 0)
//             return -1;
//         return org_unit_answer(req, res, ORG_UNIT_PROJECT, id, err);
//     }
//
// Before it runs: the request's framing and size are good, the caller is known and holds the operation's permission
// somewhere (scope is the handler's to check, api/access/authorization.h), parameters and body match the document.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct request;
struct response;
struct error;

enum http_method {
    HTTP_METHOD_GET,
    HTTP_METHOD_POST,
    HTTP_METHOD_PUT,
    HTTP_METHOD_PATCH,
    HTTP_METHOD_DELETE,
    HTTP_METHOD_COUNT, // of the methods an operation can have; the server adds HEAD and OPTIONS
};

// Answers a request. 0: res holds the answer; its status is the operation's first success status unless the handler set
// another. -1: err holds the refusal and whatever is in res is dropped.
typedef int (*operation_handler)(struct request *req, struct response *res, struct error *err);

// Who may call: none (tokens, sign-in), any signed-in caller (their own things), or whoever holds a permission.
enum operation_access {
    OPERATION_ACCESS_OPEN,
    OPERATION_ACCESS_SELF,
    OPERATION_ACCESS_PERMISSION
};

// What the body is before the handler sees it.
enum operation_body {
    OPERATION_BODY_NONE, // a body is not read; one longer than 0 closes the connection after the answer
    OPERATION_BODY_JSON, // parsed and validated: req->body
    OPERATION_BODY_FREE, // read and parsed if it is JSON, not validated: req->body, req->body_text
    OPERATION_BODY_FORM, // application/x-www-form-urlencoded: request_form()
};

struct schema;    // api/schema.h
struct parameter; // api/schema.h

struct operation {
    const char *id; // operationId
    enum http_method method;
    const char *path; // as in the document, with {names}
    operation_handler handler;
    enum operation_access access;
    const char *resource; // "projects": a ResourceType of the document; NULL unless access is PERMISSION
    const char *action;   // "create", "read", "update", "delete"
    const struct parameter *parameters;
    size_t parameter_count;
    enum operation_body body;
    bool body_required;
    const struct schema *body_schema; // NULL where nothing is said
    int success_status;
    bool has_conflict;                // the document lists 409; elsewhere a name that is taken is a 400
    bool is_stream;                   // holds its thread while it lives: counted and capped
    bool is_own;                      // not Run:ai's: no client of another version calls it
    const struct operation *original; // of a path that another release has for it (x-aliases); else NULL
};

extern const struct operation OPERATIONS[]; // the aliases stand behind the operations
extern const size_t OPERATION_COUNT;
extern const size_t ALIAS_COUNT;
