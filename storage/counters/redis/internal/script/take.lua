-- Counts an event of a client, and of the networks around it, unless one of them has had too many.
-- KEYS: bucket and LIST of the client, bucket of the networks. ARGV: time, window, limit, field, and
-- for each network its field and limit, the narrowest first.
-- Returns: admitted, remaining, microseconds until that grows, what was counted (1: the client; then
-- 2, 4 for each network), stamp, eighth.
local nets, limit, field, asked = KEYS[3], tonumber(ARGV[3]), ARGV[4], now
local c = open(field, asked, w)
if c.placed and c.n >= limit then return {0, 0, c.nth(limit) + w - asked, 0, 0, 0} end

now = c.now
local width = math.ceil(w / 8)
local free, reset, remaining, counted, at = nil, w, limit - 1, 0, 0
eighth = floor(now / width)
local single = ARGV[5] and pack('>I5I3', eighth, 1) -- of a network with one event
local known, around = ARGV[5] and call('HMGET', nets, ARGV[5], ARGV[7]), {}
for i = 5, #ARGV, 2 do
  local v, more = known[(i - 3) / 2], tonumber(ARGV[i + 1])
  if not v and free == nil then free = room(nets, now, networkEnds(now, width)) end
  local total, value = 0, single
  if v == single and more > 1 then -- what is common needs no parsing
    total, value = 1, pack('>I5I3', eighth, 2)
  elseif v then
    local counts, moved
    counts, total, moved = parse(v, eighth)
    if moved then call('HSET', nets, ARGV[i], count(counts, eighth)) end
    if total >= more then
      return {0, 0, (leaves(counts, total, eighth, more) + eighths) * width - asked, 0, 0, 0}
    end
    counts[1] = counts[1] + 1
    value = count(counts, eighth)
  end
  if v or free then
    around[#around + 1] = ARGV[i]
    around[#around + 1] = value
    remaining, counted = min(remaining, more - total - 1), counted + i - 3
  end
end

if c.placed then
  local oldest = c.n > 0 and c.nth(c.n)
  at = add(c, field, w)
  counted, remaining = counted + 1, limit - c.n - 1
  reset = (oldest or at) + w - asked
end
if #around > 0 then
  call('HSET', nets, unpack(around))
  expire(nets, now, w * 9 / 8)
end
return {1, remaining, reset, counted, at, eighth}
end)() -- which first.lua began
