// A program whose checkpoint thread dies because its file is not there, and which closes before it could hear of that.
import { join } from "node:path";
import { Checkpointing } from "../../src/threads/checkpointing.js";

const MORE_THAN_A_PASS = 100 * 1024 * 1024;

const checkpointing = new Checkpointing({ path: join(process.argv[2] as string, "gone", "log.db"), finish: () => {} });
checkpointing.afterCommit(MORE_THAN_A_PASS);
await checkpointing.close();
process.stdout.write("closed");
