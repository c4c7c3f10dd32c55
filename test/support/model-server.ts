// The stand-in for a model server that comes with the examples, for one test.
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { onTestFinished } from "vitest";
import { repositoryRoot } from "../../scripts/repository-root.mjs";

interface ModelServer {
  readonly address: string;
  close(): void;
}

/** The same question is answered with the same bytes, and every answer has the same id unless ids are made. */
export async function startModel(newId: () => string = () => "1"): Promise<string> {
  const file = pathToFileURL(join(repositoryRoot, "examples", "stand-in-model.mjs")).href;
  const { startModel: start } = (await import(file)) as {
    startModel: (options: { newId: () => string }) => Promise<ModelServer>;
  };
  const server = await start({ newId });
  onTestFinished(() => server.close());
  return server.address;
}
