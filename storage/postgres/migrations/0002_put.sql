-- put writes all documents or none. They come in arrays, one element for each, ordered by kind and
-- id, so that two calls lock the same documents in the same order. Index entries come in two more
-- arrays: to which document (from 1) each belongs, and the entry.
--
-- It returns the version that all of them now have; or, when document n is in the way and nothing
-- was written, -n. A document that another call has created in between raises KS409 with n in its
-- detail.
CREATE FUNCTION put(_kinds text[], _ids text[], _versions bigint[], _deleted boolean[], _ends bytea[],
  _data bytea[], _entry_of integer[], _entries text[], _hint text, _call bytea) RETURNS bigint
LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE
  _kind integer[];
  _bad  integer;
  _next bigint;
BEGIN
  IF EXISTS (SELECT FROM unnest(_kinds) AS w(name) WHERE NOT EXISTS (SELECT FROM kind k WHERE k.name = w.name)) THEN
    INSERT INTO kind (name) SELECT DISTINCT w.name FROM unnest(_kinds) AS w(name)
      WHERE NOT EXISTS (SELECT FROM kind k WHERE k.name = w.name) ORDER BY w.name ON CONFLICT DO NOTHING;
  END IF;
  SELECT array_agg(k.n ORDER BY w.i) INTO _kind FROM unnest(_kinds) WITH ORDINALITY AS w(name, i) JOIN kind k USING (name);

  PERFORM FROM doc d JOIN unnest(_kind, _ids) AS w(kind, id) ON d.kind = w.kind AND d.id = w.id
    ORDER BY w.kind, w.id FOR UPDATE OF d;
  SELECT w.i INTO _bad FROM unnest(_kind, _ids, _versions) WITH ORDINALITY AS w(kind, id, version, i)
    LEFT JOIN doc d ON d.kind = w.kind AND d.id = w.id
    WHERE coalesce(d.version, 0) <> w.version ORDER BY w.i LIMIT 1;
  IF FOUND THEN
    RETURN -_bad;
  END IF;
  _next := nextval('version');

  -- Entries that a replaced or removed document has no longer.
  DELETE FROM entry e USING (
      SELECT d.kind, convert_to(old.name, 'UTF8') || '\x1f'::bytea || convert_to(d.id, 'UTF8') AS place
      FROM unnest(_kind, _ids, _deleted) WITH ORDINALITY AS w(kind, id, deleted, i)
      JOIN doc d ON d.kind = w.kind AND d.id = w.id, unnest(d.entries) AS old(name)
      WHERE w.deleted OR NOT EXISTS (
        SELECT FROM unnest(_entry_of, _entries) AS n(i, name) WHERE n.i = w.i AND n.name = old.name COLLATE "C")
    ) AS gone WHERE e.kind = gone.kind AND e.place = gone.place;

  DELETE FROM doc d USING unnest(_kind, _ids, _deleted) AS w(kind, id, deleted)
    WHERE w.deleted AND d.kind = w.kind AND d.id = w.id;

  UPDATE doc d SET version = _next, ends = w.ends, data = w.data, call = _call,
      entries = coalesce((SELECT array_agg(n.name ORDER BY n.at) FROM unnest(_entry_of, _entries) WITH ORDINALITY AS n(i, name, at) WHERE n.i = w.i), '{}')
    FROM unnest(_kind, _ids, _versions, _deleted, _ends, _data) WITH ORDINALITY AS w(kind, id, version, deleted, ends, data, i)
    WHERE w.version <> 0 AND NOT w.deleted AND d.kind = w.kind AND d.id = w.id;

  WITH made AS (
    INSERT INTO doc (kind, id, version, ends, entries, data, call)
    SELECT w.kind, w.id, _next, w.ends,
      coalesce((SELECT array_agg(n.name ORDER BY n.at) FROM unnest(_entry_of, _entries) WITH ORDINALITY AS n(i, name, at) WHERE n.i = w.i), '{}'),
      w.data, _call
    FROM unnest(_kind, _ids, _versions, _ends, _data) WITH ORDINALITY AS w(kind, id, version, ends, data, i)
    WHERE w.version = 0 ORDER BY w.i
    ON CONFLICT DO NOTHING RETURNING kind, id
  )
  SELECT w.i INTO _bad FROM unnest(_kind, _ids, _versions) WITH ORDINALITY AS w(kind, id, version, i)
    WHERE w.version = 0 AND NOT EXISTS (SELECT FROM made m WHERE m.kind = w.kind AND m.id = w.id COLLATE "C")
    ORDER BY w.i LIMIT 1;
  IF FOUND THEN
    RAISE EXCEPTION 'a document was created meanwhile' USING ERRCODE = 'KS409', DETAIL = _bad::text;
  END IF;

  INSERT INTO entry (kind, place, id)
    SELECT w.kind, convert_to(n.name, 'UTF8') || '\x1f'::bytea || convert_to(w.id, 'UTF8'), w.id
    FROM unnest(_kind, _ids, _deleted) WITH ORDINALITY AS w(kind, id, deleted, i)
    JOIN unnest(_entry_of, _entries) AS n(i, name) ON n.i = w.i
    WHERE NOT w.deleted
    ON CONFLICT DO NOTHING;

  IF _hint IS NOT NULL THEN
    PERFORM pg_notify(_hint, '');
  END IF;
  RETURN _next;
END
$$;
