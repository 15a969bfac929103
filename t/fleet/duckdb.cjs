// duckdb.cjs ARCPROF MANUAL DIR QUERY... - tables of "arcprof export" in DuckDB, by the command that the manual page
// has for that, word for word; prints the answers. A query may be several, with a semicolon at the end of a line.
const { DuckDBInstance } = require('@duckdb/node-api');
const { execFileSync } = require('child_process');
const { readFileSync } = require('fs');
const { dirname, resolve } = require('path');

// What comes out of "$ (arcprof export ...) | duckdb fleet.db" before the pipe.
function statements(arcprof, manual) {
	const line = readFileSync(manual, 'utf8').match(/^\$ (\(arcprof export --schema duckdb.*\)) \| duckdb \S+$/m);
	const env = { ...process.env, PATH: `${dirname(arcprof)}:${process.env.PATH}` };

	return execFileSync('sh', ['-c', line[1]], { env }).toString().split(/;\s*\n/);
}

async function main(arcprof, manual, dir, queries) {
	const db = await (await DuckDBInstance.create(':memory:')).connect();
	const sql = (process.chdir(dir), statements(arcprof, manual));

	for (const statement of sql)
		if (statement.trim())
			await db.run(statement);
	for (const query of queries.flatMap(q => q.split(/;\s*\n/)).filter(q => q.trim()))
		for (const row of (await db.runAndReadAll(query)).getRows())
			console.log(row.map(String).join('\t'));
}

main(resolve(process.argv[2]), resolve(process.argv[3]), process.argv[4], process.argv.slice(5)).catch(e => {
	console.error(e.message);
	process.exit(1);
});
