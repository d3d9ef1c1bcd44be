package postgres

import "strings"

// query names a statement. Every one is one round trip and one atomic step.
//
// Isolation is READ COMMITTED: a statement that has waited for another one looks again at the row it waited
// for. SERIALIZABLE would cost retries and bring nothing.
//
// A number of a feed is taken from a row that its taker holds until the number is visible, so no reader goes
// past a number that is still to come: with bigserial number 2 commits before 1, and readers who have seen 2
// never see 1. PostgreSQL shows a commit before it releases its locks. Versions of documents come from a
// sequence: they only have to rise and be used once.
type query int

const (
	issueTokens query = iota
	readToken
	exchangeToken
	judgeToken
	revoke
	readRevocations
	addCounts
	readUsage
	readUsageOf
	readMeters
	appendRecords
	readRecords
	pickRecords
	lastRecord
	pruneRecords
	readDoc
	listDocs
	gatherDocs
	putDocs
	ownDoc
	sweep
	readClock
	keepPartitions // of several statements
	listTable      // text by table: listings
	loadTable
	queries
)

// statement is a query's name, for measurements, and its text. "ks." stands for the schema.
type statement struct{ name, text string }

const tokenColumns = "key, grant_id, app, usr, granted, ends, spent, brief, rest"

// givenTokens are new tokens, a column each in $1 to $9.
const givenTokens = "unnest($1::bytea[], $2::text[], $3::text[], $4::text[], $5::bytea[], $6::bytea[], $7::bytea[], " +
	"$8::boolean[], $9::bytea[])"

// uncovered holds for a token t that no revocation covers (driver.Revocation.Covers). These are four
// conditions and not one with OR: each is one look into an index.
const uncovered = `
	NOT EXISTS (SELECT FROM ks.revocation r WHERE r.kind = 'grant' AND r.id = t.grant_id)
	AND NOT EXISTS (SELECT FROM ks.revocation r WHERE r.kind = 'app' AND r.id = t.app AND t.granted < r.before)
	AND NOT EXISTS (SELECT FROM ks.revocation r WHERE r.kind = 'user' AND r.id = t.usr AND t.granted < r.before)
	AND NOT EXISTS (SELECT FROM ks.revocation r WHERE r.kind = 'consent' AND r.id = t.app || '=' || t.usr AND t.granted < r.before)`

const docColumns = "d.id, d.version, d.ends, d.entries, d.data"

var statements = [queries]statement{
	issueTokens: {"issue", `INSERT INTO ks.token (` + tokenColumns + `) SELECT * FROM ` + givenTokens},
	readToken:   {"token", `SELECT grant_id, app, usr, granted, ends, spent, rest FROM ks.token WHERE key = $1`},

	// "spent IS NULL" stands in the UPDATE itself, which looks again after it has waited for another
	// one: of two exchanges one finds no row. The tokens are stored only if the first has.
	exchangeToken: {"exchange", `
		WITH used AS (
			UPDATE ks.token t SET spent = $11 WHERE t.key = $10 AND t.spent IS NULL AND ` + uncovered + ` RETURNING 1
		), issued AS (
			INSERT INTO ks.token (` + tokenColumns + `) SELECT * FROM ` + givenTokens + ` WHERE EXISTS (SELECT FROM used)
		)
		SELECT count(*) FROM used`},
	judgeToken: {"judge", `SELECT t.spent, ` + uncovered + ` FROM ks.token t WHERE t.key = $1`},

	// greatest does not read NULL: right for before, which has none, and not for until.
	revoke: {"revoke", `
		WITH taken AS (
			UPDATE ks.number SET n = n + cardinality($1::text[]) WHERE name = 'revocation' RETURNING n - cardinality($1::text[]) AS n
		), written AS (
			INSERT INTO ks.revocation AS r (kind, id, seq, before, until)
			SELECT v.kind, v.id, taken.n + v.i, v.before, v.until
			FROM taken, unnest($1::text[], $2::text[], $3::bytea[], $4::bytea[]) WITH ORDINALITY AS v(kind, id, before, until, i)
			ON CONFLICT (kind, id) DO UPDATE SET seq = excluded.seq, before = greatest(r.before, excluded.before),
				until = CASE WHEN r.until IS NULL OR excluded.until IS NULL THEN NULL ELSE greatest(r.until, excluded.until) END
			RETURNING 1
		)
		SELECT CASE WHEN $5::text IS NOT NULL THEN pg_notify($5, '') END FROM (SELECT count(*) FROM written) AS all_of_them`},
	readRevocations: {"revocations", `SELECT kind, id, seq, before, until FROM ks.revocation WHERE seq > $1 ORDER BY seq LIMIT $2`},

	// Sums stop at the largest number. The row of the batch is taken first: the same batch at another
	// node waits for it, and finds it counted.
	addCounts: {"count", `
		WITH fresh AS (
			INSERT INTO ks.batch AS b VALUES ($1, $2) ON CONFLICT (node) DO UPDATE SET seq = excluded.seq WHERE b.seq < excluded.seq RETURNING 1
		)
		INSERT INTO ks.usage AS u (app, daily, at, product, calls, errors)
		SELECT * FROM unnest($3::text[], $4::boolean[], $5::bytea[], $6::text[], $7::bigint[], $8::bigint[]) WHERE EXISTS (SELECT FROM fresh)
		ON CONFLICT (app, daily, at, product) DO UPDATE SET
			calls = CASE WHEN u.calls > 9223372036854775807 - excluded.calls THEN 9223372036854775807 ELSE u.calls + excluded.calls END,
			errors = CASE WHEN u.errors > 9223372036854775807 - excluded.errors THEN 9223372036854775807 ELSE u.errors + excluded.errors END`},
	readUsage: {"usage", `SELECT at, product, calls, errors FROM ks.usage
		WHERE app = $1 AND daily = $2 AND at >= $3 AND at < $4 ORDER BY at, product`},
	readUsageOf: {"usage", `SELECT at, product, calls, errors FROM ks.usage
		WHERE app = $1 AND daily = $2 AND at >= $3 AND at < $4 AND product = $5 ORDER BY at`},
	readMeters: {"usage", `SELECT app, at, product, calls, errors FROM ks.usage
		WHERE app = ANY ($1::text[]) AND daily = $2 AND at >= $3 AND at < $4 AND ($5::text = '' OR product = $5) ORDER BY app, at, product`},

	appendRecords: {"append", `
		WITH taken AS (
			UPDATE ks.number SET n = n + cardinality($1::bytea[]) WHERE name = 'record' RETURNING n - cardinality($1::bytea[]) AS n
		)
		INSERT INTO ks.record (seq, at, data, call)
		SELECT taken.n + v.i, v.at, v.data, CASE v.i WHEN 1 THEN $3::bytea END FROM taken, unnest($1::bytea[], $2::bytea[]) WITH ORDINALITY AS v(at, data, i)`},
	readRecords: {"records", `SELECT seq, at, data FROM ks.record WHERE seq > $1 ORDER BY seq LIMIT $2`},
	pickRecords: {"pick", `SELECT seq, at, data FROM ks.record WHERE seq = ANY ($1::bigint[]) ORDER BY seq`},
	lastRecord:  {"appended", `SELECT n FROM ks.number WHERE name = 'record'`},
	pruneRecords: {"prune", `
		DELETE FROM ks.record WHERE seq <= $1 AND seq = ANY (ARRAY(SELECT seq FROM ks.record WHERE seq <= $1 ORDER BY seq LIMIT $2))`},

	readDoc: {"get", `SELECT ` + docColumns + ` FROM ks.doc d WHERE d.kind = (SELECT n FROM ks.kind WHERE name = $1) AND d.id = $2`},
	// One statement is one view of the store. The row behind the page tells where the next one begins.
	listDocs: {"list", `SELECT e.place, ` + docColumns + ` FROM ks.entry e JOIN ks.doc d ON d.kind = e.kind AND d.id = e.id
		WHERE e.kind = (SELECT n FROM ks.kind WHERE name = $1) AND e.place >= $2 AND e.place < $3 ORDER BY e.place LIMIT $4`},
	// The LIMITs within keep the planner from reading whole tables, whose sizes it would have to guess.
	gatherDocs: {"gather", `
		SELECT ask.i, e.place, d.* FROM unnest($1::integer[], $2::text[], $3::bytea[], $4::bytea[], $5::bigint[]) AS ask(i, kind, first, behind, n)
			CROSS JOIN LATERAL (SELECT e.kind, e.place, e.id FROM ks.entry e WHERE e.kind = (SELECT n FROM ks.kind WHERE name = ask.kind)
				AND e.place >= ask.first AND e.place < ask.behind ORDER BY e.place LIMIT ask.n) AS e
			CROSS JOIN LATERAL (SELECT ` + docColumns + ` FROM ks.doc d WHERE d.kind = e.kind AND d.id = e.id LIMIT 1) AS d
		UNION ALL
		SELECT ask.i, NULL, d.* FROM unnest($6::integer[], $7::text[], $8::text[]) AS ask(i, kind, id) JOIN ks.kind k ON k.name = ask.kind
			CROSS JOIN LATERAL (SELECT ` + docColumns + ` FROM ks.doc d WHERE d.kind = k.n AND d.id = ask.id LIMIT 1) AS d
		ORDER BY 1, 2, 3`},
	putDocs: {"put", `SELECT ks.put($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`},
	ownDoc:  {"put", `SELECT version FROM ks.doc WHERE kind = (SELECT n FROM ks.kind WHERE name = $1) AND id = $2 AND call = $3`},

	// Rows that another process is removing, or has locked, are left to it or to the next minute.
	sweep: {"sweep", `
		WITH t1 AS (
			DELETE FROM ks.token t USING (SELECT key FROM ks.token WHERE brief AND ends <= $1 LIMIT $3 FOR UPDATE SKIP LOCKED) AS due WHERE t.key = due.key RETURNING 1
		), t2 AS (
			DELETE FROM ks.token_other t USING (SELECT key FROM ks.token_other WHERE NOT brief AND ends <= $1
				LIMIT $3 - (SELECT count(*) FROM t1) FOR UPDATE SKIP LOCKED) AS due WHERE t.key = due.key RETURNING 1
		), t3 AS (
			DELETE FROM ks.token_untimed t USING (SELECT key FROM ks.token_untimed WHERE NOT brief AND ends <= $1
				LIMIT $3 - (SELECT count(*) FROM t1) - (SELECT count(*) FROM t2) FOR UPDATE SKIP LOCKED) AS due WHERE t.key = due.key RETURNING 1
		), removed AS (
			SELECT (SELECT count(*) FROM t1) + (SELECT count(*) FROM t2) + (SELECT count(*) FROM t3) AS tokens
		), r AS (
			DELETE FROM ks.revocation r USING (SELECT seq FROM ks.revocation WHERE until <= $1
				LIMIT $3 - (SELECT tokens FROM removed) FOR UPDATE SKIP LOCKED) AS due WHERE r.seq = due.seq RETURNING 1
		), d AS (
			DELETE FROM ks.doc d USING (SELECT kind, id FROM ks.doc WHERE ends <= $1
				LIMIT $3 - (SELECT tokens FROM removed) - (SELECT count(*) FROM r) FOR UPDATE SKIP LOCKED) AS due
			WHERE d.kind = due.kind AND d.id = due.id RETURNING d.kind, d.id, d.entries
		), e AS (
			DELETE FROM ks.entry e USING d, unnest(d.entries) AS old(name)
			WHERE e.kind = d.kind AND e.place = convert_to(old.name, 'UTF8') || '\x1f'::bytea || convert_to(d.id, 'UTF8')
		), u AS (
			DELETE FROM ks.usage u USING (SELECT app, at, product FROM ks.usage WHERE NOT daily AND at < $2
				LIMIT $3 - (SELECT tokens FROM removed) - (SELECT count(*) FROM r) - (SELECT count(*) FROM d) FOR UPDATE SKIP LOCKED) AS due
			WHERE NOT u.daily AND u.app = due.app AND u.at = due.at AND u.product = due.product RETURNING 1
		)
		SELECT (SELECT tokens FROM removed) + (SELECT count(*) FROM r) + (SELECT count(*) FROM d) + (SELECT count(*) FROM u)`},

	readClock:      {"clock", `SELECT clock_timestamp()`},
	keepPartitions: {name: "partitions"},
	listTable:      {name: "copy from"},
	loadTable:      {name: "copy to"},
}

// inSchema puts the schema into a text.
func (s *Store) inSchema(text string) string { return strings.ReplaceAll(text, "ks.", s.schema+".") }

// textsIn returns the statements for a schema, whose name is quoted.
func textsIn(quoted string) (texts [queries]string) {
	for q, s := range statements {
		texts[q] = strings.ReplaceAll(s.text, "ks.", quoted+".")
	}
	return texts
}
