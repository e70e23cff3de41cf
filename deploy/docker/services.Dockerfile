# syntax=docker/dockerfile:1
# One image for every service, with the portal's pages, and for the migration job: `docker run <image> services/dist/crm.mjs`.
# Build from the repository: docker build -f deploy/docker/services.Dockerfile -t causeway/services .

# glibc 2.38 or newer: the prebuilt uWebSockets.js needs it, so neither bookworm nor Alpine will do.
FROM node:24-trixie-slim AS manifests
WORKDIR /app
COPY package.json package-lock.json ./
COPY proto/package.json proto/
COPY proto/client/package.json proto/client/
COPY proto/connectors/zapier/package.json proto/connectors/zapier/
COPY services/access/package.json services/access/
COPY services/agents/package.json services/agents/
COPY services/crm/package.json services/crm/
COPY services/deliveries/package.json services/deliveries/
COPY services/dispatcher/package.json services/dispatcher/
COPY services/gateway/package.json services/gateway/
COPY services/identity/package.json services/identity/
COPY services/runtime/package.json services/runtime/
COPY services/webhooks/package.json services/webhooks/
COPY admin-ui/package.json admin-ui/
COPY deploy/local/package.json deploy/local/
COPY e2e/package.json e2e/

FROM manifests AS portal
RUN npm ci --ignore-scripts --no-audit --no-fund --workspace proto --workspace admin-ui
COPY tsconfig.base.json ./
COPY proto proto
COPY admin-ui admin-ui
RUN node admin-ui/scripts/build.ts

FROM manifests AS dependencies
# No install scripts: nothing here needs one, and one in an update would run as root. Of uWebSockets.js only the
# binary of this Node and processor is kept, a tenth of the image.
RUN npm ci --omit=dev --omit=optional --ignore-scripts --no-audit --no-fund \
    --workspace proto --workspace services/access --workspace services/agents --workspace services/crm --workspace services/deliveries \
    --workspace services/dispatcher --workspace services/gateway --workspace services/identity --workspace services/runtime \
    --workspace services/webhooks \
  && find node_modules/uWebSockets.js -name '*.node' \
    ! -name "uws_linux_$(node -p process.arch)_$(node -p process.versions.modules).node" -delete \
  && node -e "require('uWebSockets.js')"

# What the services start from; other programs, and their threads, run from the sources.
FROM manifests AS bundle
RUN npm ci --omit=optional --ignore-scripts --no-audit --no-fund --workspace proto --workspace services/access \
    --workspace services/agents --workspace services/crm --workspace services/deliveries --workspace services/dispatcher \
    --workspace services/gateway --workspace services/identity --workspace services/runtime --workspace services/webhooks \
    --workspace deploy/local
COPY proto proto
COPY services services
COPY deploy/bundle deploy/bundle
RUN node deploy/bundle/main.ts

FROM node:24-trixie-slim
WORKDIR /app
COPY --from=dependencies /app ./
COPY proto proto
COPY services services
COPY --from=bundle /app/services/dist services/dist
COPY deploy/migrate deploy/migrate
COPY deploy/mysql deploy/mysql
COPY deploy/data/restored deploy/data/restored
# The gateway's welcome page and the frame of its documentation.
COPY admin-ui/public admin-ui/public
COPY --from=portal /app/admin-ui/dist admin-ui/dist
# The user `node` of the base image, by number, so that Kubernetes can see that it is not root.
USER 1000:1000
EXPOSE 8080 9090
# Node is process 1: it handles SIGTERM itself and has no children.
# Variables and flags: deploy/local/supervisor.ts.
ENV MALLOC_ARENA_MAX=2 MALLOC_TRIM_THRESHOLD_=131072
ENTRYPOINT ["node", "--external-memory-accounted-in-global-limit", "--initial-old-space-size=96", "--enable-source-maps"]
