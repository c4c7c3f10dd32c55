// A store on the engine that this run is about: a folder, or with HANSARD_TEST_ENGINE=postgres a place in a PostgreSQL.
import { randomUUID } from "node:crypto";
import { storeAddress } from "./postgres.js";
import { folderOfFile, folderOfTest } from "./temporary-folder.js";

export const testEngine = process.env.HANSARD_TEST_ENGINE === "postgres" ? "postgres" : "sqlite";

/** What `--data` names, for one test; called inside the test. */
export async function storeOfTest(): Promise<string> {
  return testEngine === "postgres" ? newStoreAddress() : folderOfTest();
}

/** The same for all tests of a file; called outside of them. */
export function storeOfFile(): () => Promise<string> {
  if (testEngine !== "postgres") {
    const folder = folderOfFile();
    return async () => folder;
  }
  let address: Promise<string> | undefined;
  return () => {
    address ??= newStoreAddress();
    return address;
  };
}

/** Stores are small, and all of them go with the server at the end of the run. */
function newStoreAddress(): Promise<string> {
  return storeAddress(`store_${randomUUID()}`);
}
