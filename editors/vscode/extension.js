// Starts `slipring lsp` for kernels of the language and `.pto` texts.
const { commands, workspace } = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

let client;

function start() {
  const command = workspace.getConfiguration("slipring").get("command");
  const server = { command, args: ["lsp", "--stdio"] };
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
  await start();
};

exports.deactivate = () => client && client.stop();
