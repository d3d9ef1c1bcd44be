-- Says how long an event of a client would be refused, and counts nothing. KEYS: bucket and LIST.
-- ARGV: time, window, limit, field. Returns: whether the client has a place, microseconds.
local w, limit = tonumber(ARGV[2]), tonumber(ARGV[3])
local now = clock()
local c = open(ARGV[4], now, w)
if c.n >= limit then return {1, c.nth(limit) + w - now} end
return {c.placed and 1 or 0, 0}
