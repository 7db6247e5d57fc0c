# Build: docker build -t prorata .     Run: docker run -p 8080:8080 -v prorata:/data prorata
# With the quick start's team-a and team-b: docker run -p 8080:8080 -v prorata:/data -e PRORATA_QUICK_START=true prorata
FROM debian:12-slim AS build
WORKDIR /src
COPY . .
RUN apt-get update && apt-get install -y --no-install-recommends make && make build && strip build/prorata build/prorata-supervisor build/prorata-mpi-agent

FROM debian:12-slim
RUN apt-get update \
 && apt-get install -y --no-install-recommends libcivetweb1 libjansson4 libjwt0 libsqlite3-0 libsodium23 libyaml-0-2 libcurl4 zlib1g ca-certificates curl \
 && rm -rf /var/lib/apt/lists/* \
 && useradd --system --uid 10001 --home-dir /data --shell /usr/sbin/nologin prorata \
 && install -d -o prorata -g prorata -m 0700 /data
COPY --from=build /src/build/prorata /usr/local/bin/prorata
COPY --from=build /src/build/prorata-supervisor /src/build/prorata-mpi-agent /usr/local/libexec/prorata/
RUN ln -s prorata /usr/local/bin/runai
USER prorata
VOLUME /data
EXPOSE 8080
HEALTHCHECK --interval=10s --timeout=3s --start-period=5s CMD curl -fsS http://127.0.0.1:8080/readyz || exit 1
ENTRYPOINT ["prorata"]
CMD ["serve", "--data", "/data", "--listen", "0.0.0.0:8080"]
