// Starts `slipring lsp` for kernels of the language and `.pto` texts, and `slipring dap` to step through them.
const { DebugAdapterExecutable, commands, debug, workspace } = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

let client;

const program = () => workspace.getConfiguration("slipring").get("command");

function start() {
  const server = { command: program(), args: ["lsp", "--stdio"] };
  const documentSelector = [{ language: "python" }, { language: "pto" }];
  client = new LanguageClient("slipring", "slipring", server, { documentSelector });
  return client.start();
}

exports.activate = async (context) => {
  const restart = async () => {
    await client.stop();
    await start();
  };
  context.subscriptions.push(commands.registerCommand("slipring.restart", restart));
  const adapter = { createDebugAdapterDescriptor: () => new DebugAdapterExecutable(program(), ["dap"]) };
  context.subscriptions.push(debug.registerDebugAdapterDescriptorFactory("slipring", adapter));
  await start();
};

exports.deactivate = () => client && client.stop();
