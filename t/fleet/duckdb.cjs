// duckdb.cjs ARCPROF DIR QUERY... - tables of "arcprof export" in DuckDB, as the schema says; prints the answers.
const { DuckDBInstance } = require('@duckdb/node-api');
const { execFileSync } = require('child_process');

async function main(arcprof, dir, queries) {
	const sql = what => execFileSync(arcprof, ['export', what, 'duckdb']).toString();
	const db = await (await DuckDBInstance.create(':memory:')).connect();
	const schema = sql('--schema');
	await db.run(schema);
	for (const line of schema.split('\n'))
		if (line.startsWith('--   '))
			await db.run(line.slice(5).replace(/'(\w+\.tsv\.gz)'/, `'${dir}/$1'`));
	for (const view of sql('--queries').split(';\n'))
		if (view.trim())
			await db.run(view);
	for (const query of queries)
		for (const row of (await db.runAndReadAll(query)).getRows())
			console.log(row.map(String).join('\t'));
}

main(process.argv[2], process.argv[3], process.argv.slice(4)).catch(e => {
	console.error(e.message);
	process.exit(1);
});
