-- The first request of an address, and of the networks around it, is the commonest act of this script, so it is
-- answered before the rest of the text, which defines what the others need.
local now, w, call, pack = tonumber(ARGV[1]), tonumber(ARGV[2]), redis.call, struct.pack
if not now then
  local t = call('TIME')
  now = t[1] * 1000000 + t[2]
end
-- lives has a HASH end no sooner than a window later; one that is new has no end yet.
local function lives(key, n, ms)
  if n == 0 or call('PTTL', key) < ms then call('PEXPIRE', key, math.floor(ms * 1.25) + 1000) end
end
-- firstOf adds a field, unless it is there or there is no place for as many as are needed.
local function firstOf(key, n, field, value) return n < 120 and call('HSETNX', key, field, value) == 1 end

local eighth, around = 0, nil
if ARGV[5] then
  eighth = math.floor(now / math.ceil(w / 8))
  local n, one = call('HLEN', KEYS[3]), pack('>I5I3', eighth, 1)
  if firstOf(KEYS[3], n + 1, ARGV[5], one) then
    around = firstOf(KEYS[3], n, ARGV[7], one)
    if around then lives(KEYS[3], n, w * 9 / 8000) else call('HDEL', KEYS[3], ARGV[5]) end
  end
end
if around or not ARGV[5] then
  local n = call('HLEN', KEYS[1])
  if firstOf(KEYS[1], n, ARGV[4], pack('>I7', now)) then
    lives(KEYS[1], n, w / 1000)
    return {1, ARGV[3] - 1, w, around and 7 or 1, now, eighth}
  end
  if around then call('HDEL', KEYS[3], ARGV[5], ARGV[7]) end -- all of them are counted below
end
