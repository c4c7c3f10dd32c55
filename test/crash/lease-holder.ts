// A program that takes a lease, says whether it got it, and holds on to it until it is killed, or that takes it again and again, and writes down
// when it has it: a line when it begins and one when it ends.
import { appendFileSync, writeSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { SqliteLeases } from "../../src/engines/sqlite/leases.js";

const [folder, name, notes] = process.argv.slice(2) as [string, string, string | undefined];
const leases = new SqliteLeases({ folder });
// Nothing else keeps the program alive while it waits.
setInterval(() => undefined, 60_000);

if (notes === undefined) {
  writeSync(1, (await leases.hold(name)) ? "held\n" : "refused\n");
} else {
  for (;;) {
    if (await leases.hold(name)) {
      appendFileSync(notes, `begin ${process.pid}\n`);
      await pause(Math.random() * 4);
      if (await leases.hold(name)) appendFileSync(notes, `end ${process.pid}\n`);
      await leases.release(name);
    }
    await pause(Math.random() * 4);
  }
}
