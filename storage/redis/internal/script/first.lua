-- The first request of an address of IPv4 is the commonest act of this script, so it is answered before
-- the rest of the text, which defines what the others need.
local now
if #ARGV == 4 then
  now = tonumber(ARGV[1])
  if not now then
    local t = redis.call('TIME')
    now = t[1] * 1000000 + t[2]
  end
  local w = tonumber(ARGV[2])
  if redis.call('HLEN', KEYS[1]) < 120 and redis.call('HSETNX', KEYS[1], ARGV[4], struct.pack('>I7', now)) == 1 then
    if redis.call('PTTL', KEYS[1]) < w / 1000 then redis.call('PEXPIRE', KEYS[1], math.floor(w / 800) + 1000) end
    return {1, ARGV[3] - 1, w, 1, now, 0}
  end
end
