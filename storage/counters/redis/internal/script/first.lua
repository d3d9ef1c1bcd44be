-- The first request of an address, and of the networks around it, is the commonest act of this script. It is
-- answered here, with its stamp alone: the caller knows the rest. Everything that others need stands behind it as a
-- function, so that it costs nothing here.
local now, w, call, pack = tonumber(ARGV[1]), tonumber(ARGV[2]), redis.call, struct.pack
if not now then
  local t = call('TIME')
  now = t[1] * 1000000 + t[2]
end

local eighth, around = 0, not ARGV[5]
if not around then
  eighth = math.floor(now / math.ceil(w / 8))
  local nets, narrow, one = KEYS[3], ARGV[5], pack('>I5I3', eighth, 1)
  local n = call('HLEN', nets)
  if n < 119 and call('HSETNX', nets, narrow, one) == 1 then
    around = call('HSETNX', nets, ARGV[7], one) == 1
    if not around then
      call('HDEL', nets, narrow)
    elseif n == 0 or call('PTTL', nets) < w * 9 / 8000 then -- one that is new has no end yet
      call('PEXPIRE', nets, math.floor(w * 9 / 6400) + 1000)
    end
  end
end
if around then
  local bucket = KEYS[1]
  local n = call('HLEN', bucket)
  if n < 120 and call('HSETNX', bucket, ARGV[4], pack('>I7', now)) == 1 then
    if n == 0 or call('PTTL', bucket) < w / 1000 then call('PEXPIRE', bucket, math.floor(w / 800) + 1000) end
    return {now}
  end
  if ARGV[5] then call('HDEL', KEYS[3], ARGV[5], ARGV[7]) end -- all of them are counted below
end
return (function()
