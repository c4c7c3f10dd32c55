// `hansard mcp`: serves the record to an agent over standard input and output, or tells an agent's program to start it.
import { once } from "node:events";
import type { Command } from "commander";
import { componentSchemas } from "../../http/describe/openapi.js";
import { serveMcpOverStdio } from "../../mcp/serve-mcp.js";
import { proposeChange } from "../changed-file.js";
import { type CommandModule, examplesText, type Invocation, withRecorder } from "../command.js";
import { exitStatus, WrongUse } from "../failures.js";
import { type McpLaunch, mcpClients } from "../mcp-clients.js";
import { readVersion } from "../version.js";

export const mcpCommand: CommandModule = {
  define(command: Command): void {
    command
      .argument("[action]", "install: add it to the settings of a program; left out, it serves")
      .argument("[program]", `of install: ${Object.keys(mcpClients).join(", ")}`)
      .option("--print-config", "print what a program's settings need, and change nothing")
      .option("--yes", "of install: do not ask")
      .addHelpText(
        "after",
        examplesText([
          ["what a program's settings need", "hansard mcp --print-config"],
          ["add it to Claude Code, after a look at the change", "hansard mcp install claude-code"],
        ]),
      );
  },

  async run(invocation: Invocation) {
    const { operands, options, screen } = invocation;
    const [action, program] = operands;
    if (action !== undefined && action !== "install") throw unknownAction(action);
    const isPrinted = options.printConfig === true;
    // The form of most programs is the same, so that it is shown where none is named.
    const client = clientNamed(
      action === "install" ? (program ?? (isPrinted ? "claude-code" : undefined)) : "claude-code",
    );
    if (isPrinted) {
      screen.out.write(client.change("", launchOf(invocation)));
      return exitStatus.done;
    }
    if (action === "install") {
      return proposeChange(invocation, {
        path: client.path(process.env),
        change: (text) => client.change(text, launchOf(invocation)),
      });
    }
    await serve(invocation);
    return exitStatus.done;
  },
};

async function serve(invocation: Invocation): Promise<void> {
  await withRecorder(invocation, { create: true }, async (recorder) => {
    const serving = serveMcpOverStdio({ recorder, version: readVersion(), schemas: componentSchemas() });
    const stop = new AbortController();
    const { signal } = stop;
    const ends = [once(process.stdin, "close", { signal }), once(process.stdout, "error", { signal })];
    const stopped = (["SIGINT", "SIGTERM", "SIGHUP"] as const).map((name) => once(process, name, { signal }));
    await Promise.race([...ends, ...stopped]);
    stop.abort();
    await Promise.allSettled([...ends, ...stopped]);
    await serving.close();
  });
}

/** How a program starts this very installation on this very record. */
function launchOf({ settings }: Invocation): McpLaunch {
  const [node, main = ""] = [process.execPath, process.argv[1]];
  return { command: node, args: [main, "mcp", "--data", settings.data] };
}

function clientNamed(name: string | undefined): (typeof mcpClients)[string] {
  const client = name !== undefined && Object.hasOwn(mcpClients, name) ? mcpClients[name] : undefined;
  if (client !== undefined) return client;
  throw new WrongUse({
    code: name === undefined ? "argument_missing" : "usage_invalid",
    message: name === undefined ? "install needs the name of a program" : `${JSON.stringify(name)} is not known here`,
    hint: `Name one of ${Object.keys(mcpClients).join(", ")}; for others, \`hansard mcp --print-config\` shows what to add.`,
  });
}

function unknownAction(action: string): WrongUse {
  const message = `${JSON.stringify(action.slice(0, 40))} is nothing that mcp can do`;
  return new WrongUse({ code: "usage_invalid", message, hint: "Use install, or nothing at all to serve." });
}
