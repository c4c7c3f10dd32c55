// The conformance suite on every engine there is, the SQLite log also through the thread that owns it.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { MemoryIndex } from "../../src/engines/memory/index.js";
import { MemoryLog } from "../../src/engines/memory/log.js";
import { MemoryLeases } from "../../src/engines/memory/store.js";
import { SqliteIndex } from "../../src/engines/sqlite/index.js";
import { SqliteLeases } from "../../src/engines/sqlite/leases.js";
import { SqliteLog } from "../../src/engines/sqlite/log.js";
import { ThreadedLog } from "../../src/threads/threaded-log.js";
import { folderOfFile } from "../support/temporary-folder.js";
import { describeEntryIndex, describeEntryLog, describeLeases } from "./index.js";

const folder = folderOfFile();

const memory = {
  engine: "memory",
  lacks: {
    durable: "it lives in memory and goes with the process",
    shared: "every instance has entries of its own",
  },
};

describeEntryLog(memory, async () => new MemoryLog());
describeEntryLog({ engine: "sqlite" }, async (store) =>
  SqliteLog.open({ path: join(folder, store, "log.db"), mode: "create" }),
);
describeEntryLog({ engine: "sqlite", name: "sqlite, every body in parts" }, async (store) =>
  SqliteLog.open({ path: join(folder, store, "log.db"), mode: "create", parted_bytes_min: 0 }),
);
describeEntryLog({ engine: "sqlite", name: "sqlite through its thread" }, (store) =>
  ThreadedLog.start({ path: join(folder, store, "log.db"), mode: "create" }),
);

describeEntryIndex(memory, async () => new MemoryIndex());
describeEntryIndex({ engine: "sqlite" }, async (store) => SqliteIndex.open({ path: join(folder, store, "index.db") }));
describeEntryIndex({ engine: "sqlite", name: "sqlite, texts in small segments" }, async (store) =>
  SqliteIndex.open({
    path: join(folder, store, "index.db"),
    texts: { segment: { blocks: 2, entries: 37 }, few: 4 },
  }),
);

describeLeases(memory, async () => new MemoryLeases());
describeLeases({ engine: "sqlite" }, async (store) => {
  const own = join(folder, store);
  mkdirSync(own, { recursive: true });
  return new SqliteLeases({ folder: own });
});
