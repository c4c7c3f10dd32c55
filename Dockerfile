# The image of a clone: the files of the bundle on Node, which needs no packages. docs/OPERATIONS.md has the commands.
FROM node:24-slim AS build
WORKDIR /hansard
COPY . .
# Installs what building needs, builds the program and the page, and starts it once.
RUN node scripts/start.mjs --version

FROM node:24-alpine
WORKDIR /hansard
COPY --from=build /hansard/package.json /hansard/LICENSE ./
COPY --from=build /hansard/dist/bundle ./dist/bundle
COPY --from=build /hansard/dist/page ./dist/page
# A record in a folder is in one volume; with HANSARD_DATA=postgres://… nothing is. The key that signs seals is in the other one.
RUN rm dist/bundle/*.map \
  && ln -s /hansard/dist/bundle/main.js /usr/local/bin/hansard && chmod +x dist/bundle/main.js \
  && install -d -o node -g node -m 700 /record /settings
ENV HANSARD_DATA=/record XDG_CONFIG_HOME=/settings NODE_ENV=production
VOLUME ["/record", "/settings"]
USER node
EXPOSE 4747
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s \
  CMD ["node", "-e", "const tls = process.env.HANSARD_TLS_CERT; require(tls ? 'https' : 'http').get({ host: '127.0.0.1', port: process.env.HANSARD_PORT || 4747, path: '/health', rejectUnauthorized: false }, ({ statusCode }) => process.exit(statusCode === 200 ? 0 : 1)).on('error', () => process.exit(1))"]
ENTRYPOINT ["hansard"]
CMD ["serve", "--host", "0.0.0.0"]
