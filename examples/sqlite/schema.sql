-- Tokens are found by key, and swept by their end.
CREATE TABLE IF NOT EXISTS token (
	key   BLOB PRIMARY KEY,
	ends  TEXT NOT NULL,
	spent TEXT NOT NULL, -- '': not yet
	data  TEXT NOT NULL  -- the rest, as JSON
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS token_ends ON token (ends) WHERE ends <> '';

-- Revocations are facts about a kind and an id, and a feed in the order of seq.
CREATE TABLE IF NOT EXISTS revocation (
	kind   TEXT NOT NULL,
	id     TEXT NOT NULL,
	seq    INTEGER NOT NULL UNIQUE,
	before TEXT NOT NULL,
	until  TEXT NOT NULL, -- '': never
	PRIMARY KEY (kind, id)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS revocation_until ON revocation (until) WHERE until <> '';

-- The key of usage has the order in which rows are asked for.
CREATE TABLE IF NOT EXISTS usage (
	app     TEXT NOT NULL,
	daily   INTEGER NOT NULL,
	at      TEXT NOT NULL,
	product TEXT NOT NULL,
	calls   INTEGER NOT NULL,
	errors  INTEGER NOT NULL,
	PRIMARY KEY (app, daily, at, product)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS usage_hours ON usage (at) WHERE daily = 0;

CREATE TABLE IF NOT EXISTS batch (
	node TEXT PRIMARY KEY,
	seq  TEXT NOT NULL -- of one width: it may be above 2^63-1
) WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS record (
	seq  INTEGER PRIMARY KEY,
	at   TEXT NOT NULL,
	data BLOB
);

CREATE TABLE IF NOT EXISTS doc (
	kind    TEXT NOT NULL,
	id      TEXT NOT NULL,
	version INTEGER NOT NULL,
	ends    TEXT NOT NULL, -- '': never
	entries TEXT NOT NULL, -- its index, as JSON
	data    BLOB,
	PRIMARY KEY (kind, id)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS doc_ends ON doc (ends) WHERE ends <> '';

-- A place is entry + 0x1F + id, which is the order of List.
CREATE TABLE IF NOT EXISTS place (
	kind  TEXT NOT NULL,
	place TEXT NOT NULL,
	id    TEXT NOT NULL,
	PRIMARY KEY (kind, place),
	FOREIGN KEY (kind, id) REFERENCES doc ON DELETE CASCADE
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS place_doc ON place (kind, id);

-- The last number given of each sequence.
CREATE TABLE IF NOT EXISTS last (
	name TEXT PRIMARY KEY,
	seq  INTEGER NOT NULL
) WITHOUT ROWID;
