-- Times are 12 bytes whose order is that of time: seconds since 1970 plus 2^63 in eight bytes,
-- then nanoseconds in four. timestamptz has microseconds only. NULL is "never" or "not yet".
-- Texts are ordered by their bytes, whatever the locale of the database.
-- A call whose answer was lost is sent again. Where the outcome would differ, "call" has a number that
-- nobody else draws, by which it knows its own work.

-- The last number that a feed has given out. Whoever takes numbers holds the row until the
-- numbers are visible, so no number shows before a lower one.
CREATE TABLE number (
  name text COLLATE "C" PRIMARY KEY,
  n    bigint NOT NULL
) WITH (fillfactor = 10);
INSERT INTO number VALUES ('record', 0), ('revocation', 0);

-- Tokens are found by their key alone, which begins with the time of issue: a partition is a
-- week of issue times, and is dropped as a whole when everything in it has ended. brief tells
-- those that end within a day (authorization codes): they are removed one by one.
CREATE TABLE token (
  key      bytea NOT NULL PRIMARY KEY,
  grant_id text COLLATE "C" NOT NULL,
  app      text COLLATE "C" NOT NULL,
  usr      text COLLATE "C" NOT NULL,
  granted  bytea NOT NULL,
  ends     bytea,
  spent    bytea,
  brief    boolean NOT NULL,
  rest     bytea NOT NULL
) PARTITION BY RANGE (key);
CREATE INDEX token_brief ON token (ends) WHERE brief;
-- Keys without a time, and times for which no partition was made.
CREATE TABLE token_untimed PARTITION OF token FOR VALUES FROM (MINVALUE) TO ('\x0000000000000001')
  WITH (fillfactor = 85);
CREATE TABLE token_other PARTITION OF token DEFAULT WITH (fillfactor = 85);
CREATE INDEX token_untimed_long ON token_untimed (ends) WHERE NOT brief;
CREATE INDEX token_other_long ON token_other (ends) WHERE NOT brief;

CREATE TABLE revocation (
  kind   text COLLATE "C" NOT NULL,
  id     text COLLATE "C" NOT NULL,
  seq    bigint NOT NULL UNIQUE,
  before bytea NOT NULL,
  until  bytea,
  PRIMARY KEY (kind, id)
);
CREATE INDEX revocation_until ON revocation (until) WHERE until IS NOT NULL;

-- The last batch that was counted, by node.
CREATE TABLE batch (
  node text COLLATE "C" PRIMARY KEY,
  seq  bigint NOT NULL
) WITH (fillfactor = 50);

CREATE TABLE usage (
  app     text COLLATE "C" NOT NULL,
  daily   boolean NOT NULL,
  at      bytea NOT NULL,
  product text COLLATE "C" NOT NULL,
  calls   bigint NOT NULL,
  errors  bigint NOT NULL,
  PRIMARY KEY (app, daily, at, product)
) WITH (fillfactor = 60);
CREATE INDEX usage_hour ON usage (at) WHERE NOT daily;

CREATE TABLE record (
  seq  bigint PRIMARY KEY,
  at   bytea NOT NULL,
  data bytea NOT NULL,
  call bytea -- of the first record of a call
);
CREATE UNIQUE INDEX record_call ON record (call) WHERE call IS NOT NULL;

-- Kinds of documents, as numbers: a kind, an entry and an id together are too long for an index.
CREATE TABLE kind (
  name text COLLATE "C" PRIMARY KEY,
  n    integer NOT NULL UNIQUE GENERATED ALWAYS AS IDENTITY
);

CREATE SEQUENCE version;

CREATE TABLE doc (
  kind    integer NOT NULL,
  id      text COLLATE "C" NOT NULL,
  version bigint NOT NULL,
  ends    bytea,
  entries text[] NOT NULL,
  data    bytea NOT NULL,
  call    bytea, -- that wrote it last
  PRIMARY KEY (kind, id)
) WITH (fillfactor = 80);
CREATE INDEX doc_ends ON doc (ends) WHERE ends IS NOT NULL;

-- Where List finds a document: its entry, 0x1F, its id.
CREATE TABLE entry (
  kind  integer NOT NULL,
  place bytea NOT NULL,
  id    text COLLATE "C" NOT NULL,
  PRIMARY KEY (kind, place)
);
