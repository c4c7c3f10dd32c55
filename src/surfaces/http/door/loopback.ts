// Which addresses only this machine can reach, and why another one is not served.
import { BlockList, isIP } from "node:net";
import { RecorderError } from "../../../model/rejection.js";

const loopback = new BlockList();
loopback.addSubnet("127.0.0.0", 8);
loopback.addAddress("::1", "ipv6");

/** Whether a name or an address, without brackets and port, is this machine's own. */
export function isLoopback(host: string): boolean {
  if (host === "localhost") return true;
  const family = isIP(host);
  return family !== 0 && loopback.check(host, family === 6 ? "ipv6" : "ipv4");
}

/** Others could reach a store that has no keys. */
export function beyondLoopback(host: string): RecorderError {
  return new RecorderError({
    code: "host_refused",
    field: "host",
    message: `${host} can be reached by others, and there are no keys to keep them out`,
    hint: "Make one with `hansard keys create --scope admin`, or listen on 127.0.0.1.",
  });
}
