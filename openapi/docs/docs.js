// The API document, shown by Swagger UI. The browser's session cookie goes with requests; writes need the header.
window.SwaggerUIBundle({
  url: "/api/v1/swagger.json",
  dom_id: "#operations",
  deepLinking: true,
  validatorUrl: null,
  requestInterceptor(request) {
    request.headers["X-Prorata-Request"] = "1";
    return request;
  },
});
