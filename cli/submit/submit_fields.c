// Flags that are a field each, and amounts of GPUs and other resources.
#include "base/duration.h"
#include "base/error.h"
#include "base/timestamp.h"
#include "cli/command.h"
#include "cli/submit/start_time.h"
#include "cli/submit/submit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int parse_number(const char *flag, const char *text, double *out_number, struct error *err)
{
    char *end;
    *out_number = strtod(text, &end);
    if (end == text || *end != '\0' || !isfinite(*out_number))
        return error_set(err, ERROR_INVALID, "--%s: not a number: %s", flag, text);
    return 0;
}

json_t *submit_named_item(const char *flag, const char *text, struct error *err)
{
    const char *equals = strchr(text, '=');
    if (!equals || equals == text) {
        error_set(err, ERROR_INVALID, "--%s: expected NAME=VALUE, got %s", flag, text);
        return NULL;
    }
    return json_pack("{s:s%, s:s}", "name", text, (size_t)(equals - text), "value", equals + 1);
}

// The flag may be given several times, and each may name several: a,b.
static void append_names(json_t *list, const char *text)
{
    for (const char *comma; (comma = strchr(text, ',')); text = comma + 1)
        json_array_append_new(list, json_stringn(text, (size_t)(comma - text)));
    json_array_append_new(list, json_string(text));
}

// NAME[:ok|any|failed]; which of these is the server's to judge.
static json_t *after_item(const char *text)
{
    const char *colon = strchr(text, ':');
    if (!colon)
        return json_pack("{s:s}", "name", text);
    return json_pack("{s:s%, s:s}", "name", text, (size_t)(colon - text), "when", colon + 1);
}

static json_t *after_list(const struct flag_value *value)
{
    json_t *names = json_array(), *list = json_array(), *name;
    size_t i;
    for (i = 0; i < value->count; i++)
        append_names(names, value->texts[i]);
    json_array_foreach(names, i, name)
        json_array_append_new(list, after_item(json_string_value(name)));
    json_decref(names);
    return list;
}

// NULL with err set where the text is not of the form.
static json_t *field_value(const struct spec_field *field, const struct flag_value *value, struct error *err)
{
    const char *text = value->texts[value->count - 1];
    double number;
    int64_t ms;
    char time[TIMESTAMP_SIZE];
    json_t *list;
    switch (field->form) {
    case FIELD_TEXT:
        return json_string(text);
    case FIELD_SWITCH:
        return json_boolean(strcmp(text, "false") != 0);
    case FIELD_INTEGER:
    case FIELD_NUMBER:
        if (parse_number(field->flag, text, &number, err) < 0)
            return NULL;
        if (field->form == FIELD_NUMBER)
            return json_real(number);
        if (number != floor(number)) {
            error_set(err, ERROR_INVALID, "--%s: expected a whole number, got %s", field->flag, text);
            return NULL;
        }
        return json_integer((json_int_t)number);
    case FIELD_SECONDS:
        if (duration_parse(text, &ms, err) < 0) {
            error_prefix(err, "--%s: ", field->flag);
            return NULL;
        }
        return json_integer(ms / 1000);
    case FIELD_START:
        if (start_time_parse(text, timestamp_now_ms(), &ms, err) < 0) {
            error_prefix(err, "--%s: ", field->flag);
            return NULL;
        }
        timestamp_format(ms, time);
        return json_string(time);
    case FIELD_AFTER:
        return after_list(value);
    case FIELD_TEXTS:
    case FIELD_NAMED:
        list = json_array();
        for (size_t i = 0; i < value->count; i++) {
            if (field->form == FIELD_TEXTS) {
                append_names(list, value->texts[i]);
                continue;
            }
            if (strcmp(field->flag, "environment-variable") == 0 && !strchr(value->texts[i], '='))
                continue; // an environment: submit_take_assets
            json_t *item = submit_named_item(field->flag, value->texts[i], err);
            if (!item) {
                json_decref(list);
                return NULL;
            }
            json_array_append_new(list, item);
        }
        return list;
    }
    return NULL;
}

int submit_take_fields(const struct cli *cli, const struct spec_field *fields, json_t *spec, struct error *err)
{
    for (const struct spec_field *field = fields; field->flag; field++) {
        const struct flag_value *value = flag_values(&cli->arguments, field->flag);
        if (!value)
            continue;
        json_t *json = field_value(field, value, err);
        if (!json)
            return -1;
        submit_set_at(spec, field->path, json);
    }
    return 0;
}

void submit_take_resources(struct cli *cli, const char *flag, json_t *spec)
{
    const struct flag_value *value = flag_values(&cli->arguments, flag);
    for (size_t i = 0; value && i < value->count; i++) {
        const char *equals = strchr(value->texts[i], '=');
        size_t length = equals ? (size_t)(equals - value->texts[i]) : strlen(value->texts[i]);
        submit_append_to(
            spec, "compute.extendedResources",
            json_pack("{s:s%, s:s}", "resource", value->texts[i], length, "quantity", equals ? equals + 1 : "1"));
    }
}

int submit_take_gpus(struct cli *cli, const char *flag, json_t *spec, struct error *err)
{
    const char *text = flag_text(&cli->arguments, flag);
    double gpus;
    if (!text || parse_number(flag, text, &gpus, err) < 0)
        return text ? -1 : 0;
    if (gpus == floor(gpus)) {
        submit_set_at(spec, "compute.gpuDevicesRequest", json_integer((json_int_t)gpus));
    } else if (gpus < 1 && gpus > 0) {
        submit_set_at(spec, "compute.gpuDevicesRequest", json_integer(1));
        submit_set_at(spec, "compute.gpuRequestType", json_string("portion"));
        submit_set_at(spec, "compute.gpuPortionRequest", json_real(gpus));
    } else {
        return error_set(err, ERROR_INVALID, "--%s: whole devices, or a part below 1; got %s", flag, text);
    }
    return 0;
}

void submit_name_request_type(json_t *spec)
{
    if (!cli_at(spec, "compute.gpuRequestType")) {
        if (cli_at(spec, "compute.gpuPortionRequest"))
            submit_set_at(spec, "compute.gpuRequestType", json_string("portion"));
        else if (cli_at(spec, "compute.gpuMemoryRequest"))
            submit_set_at(spec, "compute.gpuRequestType", json_string("memory"));
    }
    if (cli_at(spec, "compute.gpuRequestType") && !cli_at(spec, "compute.gpuDevicesRequest"))
        submit_set_at(spec, "compute.gpuDevicesRequest", json_integer(1));
}
