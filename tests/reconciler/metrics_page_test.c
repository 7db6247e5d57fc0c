// Metrics pages of replicas: what is understood, and what is left out.
#include "reconciler/serving/metrics_page.h"
#include "tests/support/check.h"

#include <stdio.h>
#include <string.h>

struct row {
    const char *name, *page, *own;
    const char *want; // concurrency requests latency sum/count own; - : not there
};

static const struct row ROWS[] = {
    {"an empty page", "", NULL, "- - - -"},
    {"vLLM",
     "# HELP vllm:num_requests_running Number\n# TYPE vllm:num_requests_running gauge\n"
     "vllm:num_requests_running{engine=\"0\",model_name=\"m\"} 3.0\n"
     "vllm:num_requests_waiting{engine=\"0\",model_name=\"m\"} 2.0\n"
     "vllm:request_success_total{finished_reason=\"stop\"} 10\n"
     "vllm:request_success_total{finished_reason=\"length\"} 5\n"
     "vllm:e2e_request_latency_seconds_sum{} 4.5\nvllm:e2e_request_latency_seconds_count{} 9\n",
     NULL, "5 15 4500/9 -"},
    {"Triton",
     "nv_inference_request_success{model=\"a\",version=\"1\"} 4\nnv_inference_request_duration_us{model=\"a\"} "
     "8000\nnv_inference_pending_request_count{model=\"a\"} 1\n",
     NULL, "1 4 8/4 -"},
    {"NIM", "num_requests_running 2\nrequest_success_total 7\n", NULL, "2 7 - -"},
    {"a server without names of its own", "http_requests_in_flight 1\nhttp_requests_total{code=\"200\"} 3 1700000000\n",
     NULL, "1 3 - -"},
    {"the series that is asked for", "queue_depth{shard=\"a\"} 2\nqueue_depth{shard=\"b\"} 3\nother 9\n", "queue_depth",
     "- - - 5"},
    {"one that is known, too", "http_requests_total 3\n", "http_requests_total", "- 3 - 3"},
    {"a brace and a quote in a label", "queue_depth{a=\"}\\\"}\"} 2\n", "queue_depth", "- - - 2"},
    {"lines that end as Windows ends them", "queue_depth 2\r\nqueue_depth 1\r\n", "queue_depth", "- - - 3"},
    {"no line end at the end", "queue_depth 2", "queue_depth", "- - - 2"},
    {"a name that only begins alike", "queue_depths 2\nqueue_dept 1\n", "queue_depth", "- - - -"},
    {"no value", "queue_depth\nqueue_depth \nqueue_depth{}\n", "queue_depth", "- - - -"},
    {"labels that do not end", "queue_depth{a=\"b 2\n", "queue_depth", "- - - -"},
    {"values that are no numbers", "queue_depth NaN\nqueue_depth +Inf\nqueue_depth two\nqueue_depth 1e999\n",
     "queue_depth", "- - - -"},
    {"a value below none", "queue_depth -3\n", "queue_depth", "- - - -"},
    {"a value without an end",
     "queue_depth 11111111111111111111111111111111111111111111111111111111111111111111111111111111\n", "queue_depth",
     "- - - -"},
    {"a page that is none", "<html><body>404</body></html>", "queue_depth", "- - - -"},
};

static void add(char *text, size_t size, bool has, double value)
{
    size_t length = strlen(text);
    if (has)
        snprintf(text + length, size - length, "%s%g", length ? " " : "", value);
    else
        snprintf(text + length, size - length, "%s-", length ? " " : "");
}

int main(void)
{
    for (size_t i = 0; i < COUNT(ROWS); i++) {
        struct metrics_page page;
        char text[128] = "";
        metrics_page_read(ROWS[i].page, strlen(ROWS[i].page), ROWS[i].own, &page);
        add(text, sizeof(text), page.has_concurrency, page.concurrency);
        add(text, sizeof(text), page.has_requests, page.requests);
        add(text, sizeof(text), page.has_latency, page.latency_ms_sum);
        if (page.has_latency)
            snprintf(text + strlen(text), sizeof(text) - strlen(text), "/%g", page.latency_count);
        add(text, sizeof(text), page.has_own, page.own);
        check_text(text, ROWS[i].want, "%s", ROWS[i].name);
    }
    return check_finish();
}
