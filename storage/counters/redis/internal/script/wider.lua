-- Counts an event against the first network that is known or finds a place; the last one always
-- finds one, in place of the network with the fewest events. KEYS: bucket. ARGV: time, window, 1 to
-- count or 0 to ask only, and for each network its field and limit, the narrowest first.
-- Returns: admitted, remaining, microseconds, which network (from 0), eighth.
local key, w, counting = KEYS[1], tonumber(ARGV[2]), ARGV[3] == '1'
local now, width = clock(), math.ceil(w / 8)
local eighth = floor(now / width)
local ends = networkEnds(now, width)

local function evict()
  local all, least, which = call('HGETALL', key), math.huge, nil
  for i = 1, #all, 2 do
    if all[i] ~= '' then
      local _, total = parse(all[i + 1], eighth)
      if total < least then least, which = total, all[i] end
    end
  end
  if which then call('HDEL', key, which) end
end

for i = 4, #ARGV, 2 do
  local v, last = call('HGET', key, ARGV[i]), i + 2 > #ARGV
  if v or last or room(key, now, ends) then
    local counts, total, moved = parse(v, eighth)
    local limit = tonumber(ARGV[i + 1])
    if moved then call('HSET', key, ARGV[i], count(counts, eighth)) end
    if total >= limit then
      return {0, 0, (leaves(counts, total, eighth, limit) + eighths) * width - now, 0, 0}
    end
    if counting then
      if not v and last and not room(key, now, ends) then evict() end
      counts[1] = counts[1] + 1
      call('HSET', key, ARGV[i], count(counts, eighth))
      expire(key, now, w * 9 / 8)
    end
    local n = total + (counting and 1 or 0)
    return {1, limit - n, (leaves(counts, n, eighth, n) + eighths) * width - now, (i - 4) / 2, eighth}
  end
end
