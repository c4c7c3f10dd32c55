# Hansard from a clone, as the package would hold it. See docs/OPERATIONS.md for the compose file that uses it.
FROM node:22 AS build
WORKDIR /hansard
COPY package.json package-lock.json .npmrc ./
COPY test/packages/package.json test/packages/
RUN npm ci
COPY . .
RUN npm run build && npm prune --omit=dev

FROM node:22-slim
WORKDIR /hansard
COPY --from=build /hansard/package.json ./
COPY --from=build /hansard/node_modules ./node_modules
COPY --from=build /hansard/dist/bundle ./dist/bundle
COPY --from=build /hansard/dist/client ./dist/client
COPY --from=build /hansard/dist/page ./dist/page
RUN chmod +x dist/bundle/main.js && ln -s /hansard/dist/bundle/main.js /usr/local/bin/hansard
# A record in a folder is kept in the volume; with HANSARD_DATA=postgres://… nothing is.
RUN install -d -o node -g node -m 700 /record
ENV HANSARD_DATA=/record NODE_ENV=production
VOLUME /record
USER node
EXPOSE 4747
ENTRYPOINT ["hansard"]
CMD ["serve", "--host", "0.0.0.0"]
