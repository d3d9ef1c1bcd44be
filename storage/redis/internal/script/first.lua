-- The first request of an address, and of the networks around it, is the commonest act of this script, so it is
-- answered before the rest of the text, which defines what the others need.
local now, w, call, pack = tonumber(ARGV[1]), tonumber(ARGV[2]), redis.call, struct.pack
if not now then
  local t = call('TIME')
  now = t[1] * 1000000 + t[2]
end
local known = ARGV[5] and call('HMGET', KEYS[3], ARGV[5], ARGV[7])
if (not known or not known[1] and not known[2] and call('HLEN', KEYS[3]) < 119) and call('HLEN', KEYS[1]) < 120
    and call('HSETNX', KEYS[1], ARGV[4], pack('>I7', now)) == 1 then
  if call('PTTL', KEYS[1]) < w / 1000 then call('PEXPIRE', KEYS[1], math.floor(w / 800) + 1000) end
  if not known then return {1, ARGV[3] - 1, w, 1, now, 0} end
  local eighth = math.floor(now / math.ceil(w / 8))
  local one = pack('>I5I3', eighth, 1)
  call('HSET', KEYS[3], ARGV[5], one, ARGV[7], one)
  if call('PTTL', KEYS[3]) < w * 9 / 8000 then call('PEXPIRE', KEYS[3], math.floor(w * 9 / 6400) + 1000) end
  return {1, ARGV[3] - 1, w, 7, now, eighth}
end
