-- Counts a request of an application. ARGV: time, window, limit. Returns: admitted, remaining,
-- microseconds until that grows.
local key, w, limit = KEYS[1], tonumber(ARGV[2]), tonumber(ARGV[3])
local n, newest, now = look(key, clock(), w)
if n >= limit then return {0, 0, call('LINDEX', key, limit - 1) + w - now} end
local at = push(key, n, newest, now, w)
local oldest = at
if n > 0 then oldest = call('LINDEX', key, -1) end
return {1, limit - n - 1, oldest + w - now}
