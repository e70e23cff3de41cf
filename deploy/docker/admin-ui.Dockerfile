# syntax=docker/dockerfile:1
# The portal's built files on an nginx without root.
# Build from the repository: docker build -f deploy/docker/admin-ui.Dockerfile -t causeway/admin-ui .

FROM node:24-trixie-slim AS build
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
RUN npm ci --ignore-scripts --no-audit --no-fund --workspace proto --workspace admin-ui
COPY tsconfig.base.json ./
COPY proto proto
COPY admin-ui admin-ui
RUN node admin-ui/scripts/build.ts

FROM nginxinc/nginx-unprivileged:1.30-alpine-slim
COPY deploy/docker/nginx/ /etc/nginx/
COPY --from=build /app/admin-ui/dist /usr/share/nginx/html/portal
# The image's own user, by number, so that Kubernetes can see that it is not root.
USER 101:101
EXPOSE 8080
