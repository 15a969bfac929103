// Asks "arcprof mcp" through the client of the Model Context Protocol: node mcp-client.cjs <arcprof> <trace> <trace>
// Prints the server's name and the number of its tools, then names and values of the second trace's hottest functions.
"use strict";
const { Client } = require("@modelcontextprotocol/sdk/client/index.js");
const { StdioClientTransport } = require("@modelcontextprotocol/sdk/client/stdio.js");

async function main(command, ...traces) {
	const client = new Client({ name: "test", version: "1" });
	await client.connect(new StdioClientTransport({ command, args: ["mcp", ...traces] }));
	const { tools } = await client.listTools();
	console.log(client.getServerVersion().name, tools.length);

	const wrong = await client.callTool({ name: "hottest", arguments: { trace: "../x" } });
	if (!wrong.isError)
		throw new Error("a trace that was not given was read");
	await client.callTool({ name: "nothing" }).then(
		() => { throw new Error("there is a tool 'nothing'"); },
		(e) => { if (e.code !== -32602) throw e; });

	const answer = await client.callTool({ name: "hottest", arguments: { trace: "2", limit: 3 } });
	console.log(JSON.stringify(JSON.parse(answer.content[0].text).rows.map((r) => [r.name, r.base[0]])));
	await client.close();
}

main(...process.argv.slice(2)).catch((e) => {
	console.error(e);
	process.exit(1);
});
