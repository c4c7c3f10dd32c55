// Every route that a server registers, with the scope that it asks for. HEAD needs what GET needs, and comes with it.
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import type { FastifyInstance, RouteOptions } from "fastify";
import { openRecorder } from "../../src/index.js";
import type { Need } from "../../src/operations/operation.js";
// What a route needs is declared there.
import type {} from "../../src/surfaces/http/checks/callers.js";
import { createServer } from "../../src/surfaces/http/server.js";

export async function registeredNeeds(): Promise<{ readonly [route: string]: Need }> {
  const routes: RouteOptions[] = [];
  const hear = (message: unknown): void => {
    const { fastify } = message as { readonly fastify: FastifyInstance };
    fastify.addHook("onRoute", (route) => void routes.push(route));
  };
  subscribe("fastify.initialization", hear);
  const recorder = await openRecorder({ data: "memory:" });
  const app = createServer({ recorder, version: "1.2.3" });
  await app.ready();
  unsubscribe("fastify.initialization", hear);
  await app.close();
  await recorder.close();
  const needs = routes.flatMap(({ method, url, config }) =>
    [method].flat().flatMap((one) => (one === "HEAD" ? [] : [[`${one} ${url}`, config?.need as Need] as const])),
  );
  return Object.fromEntries(needs);
}
