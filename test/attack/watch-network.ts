// Loaded before a program with `--import`: writes down every address that it connects to or asks a name server for.
import dgram from "node:dgram";
import dns from "node:dns";
import { appendFileSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import net from "node:net";

const file = process.env.HANSARD_TEST_NETWORK_FILE as string;
const note = (what: string, where: unknown): void => appendFileSync(file, `${what} ${JSON.stringify(where)}\n`);

/** Wraps a method so that its first argument is written down. */
function watch(owner: object, name: string): void {
  const methods = owner as { [name: string]: ((...args: unknown[]) => unknown) | undefined };
  const method = methods[name];
  if (typeof method !== "function") return;
  methods[name] = function (this: unknown, ...args: unknown[]) {
    note(name, args[0]);
    return method.apply(this, args);
  };
}

watch(net.Socket.prototype, "connect");
for (const name of ["send", "connect"]) watch(dgram.Socket.prototype, name);
for (const owner of [dns, dns.promises, dns.Resolver.prototype]) {
  for (const name of ["lookup", "lookupService", "resolve", "resolve4", "resolve6", "resolveTxt"]) watch(owner, name);
}
syncBuiltinESMExports();
