// Faults on PostgreSQL: what was acknowledged is there afterwards, once, in order and unchanged.
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, onTestFinished } from "vitest";
import { PostgresServer } from "../support/postgres-server.js";
import { defineFireTests } from "./fire-tests.js";

/** Of this file alone: it is stopped and started again. */
let database: PostgresServer;
beforeAll(async () => {
  database = await PostgresServer.create();
});
afterAll(() => database.destroy());

defineFireTests("postgres", {
  database: () => database,
  newStore: async (folder, { isDisk } = { isDisk: false }) => {
    const name = `fire_${randomUUID().replaceAll("-", "")}`;
    const address = isDisk ? await database.createDatabaseIn(folder, name) : await database.createDatabase(name);
    onTestFinished(async () => {
      await database.execute(`DROP DATABASE IF EXISTS "${name}" WITH (FORCE)`);
      if (isDisk) await database.execute(`DROP TABLESPACE IF EXISTS "${name}"`);
    });
    return address;
  },
});
