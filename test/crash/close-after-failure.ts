// A program whose checkpoint thread dies because its file is not there, and which closes before it could hear of that.

import { join } from "node:path";
import { itemAt } from "../../src/model/item-at.js";
import { Checkpointing } from "../../src/threads/checkpointing.js";

const MORE_THAN_A_PASS = 100 * 1024 * 1024;

const checkpointing = new Checkpointing({ path: join(itemAt(process.argv, 2), "gone", "log.db"), finish: () => {} });
checkpointing.afterCommit(MORE_THAN_A_PASS);
await checkpointing.close();
process.stdout.write("closed");
