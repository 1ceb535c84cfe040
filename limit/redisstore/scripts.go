package redisstore

// The scripts use the server's clock. All times are in microseconds. The clock may be set back, and
// a new primary may have an earlier time than the old one.

// exchangeScript settles the tokens of a bucket, by the generic cell rate algorithm. The bucket is the
// hash KEYS[1]. Its fields are packed numbers:
//
//   - bucket has the time when it would be full without the shares, as of the last exchange, and the time of that;
//     the number of tokens taken since it was made; the sums of the shares and weights of the leases, and the number
//     of leases with a share; and the time when these are computed again, without the leases that have ended;
//   - REPLICA:NUMBER is a lease: its tokens taken, share, weight, and the time of its last exchange.
//
// It expires 10 s after it is full and without shares. ARGV is REPLICA:NUMBER, the other fields of lease.Exchange
// in their order, and lease.ShareTTL. The result has taken, share in billionths, remaining, reset, retry
// and total.
const exchangeScript = `
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local key, lease = KEYS[1], ARGV[1]
local arg = {}
for i = 2, #ARGV do arg[i-1] = tonumber(ARGV[i]) end
local every, fill, known, used, want, weight, had, replicas, least, left, ttl = unpack(arg)
local packed = redis.call('HMGET', key, 'bucket', lease)
local full_at, at, total, shares, weights, holders, sums = now, now, 0, 0, 0, 0, now
if packed[1] then full_at, at, total, shares, weights, holders, sums = struct.unpack('>ddddddd', packed[1]) end
if now >= sums or sums > now + ttl then -- or the clock was set back
	sums, shares, weights, holders = now + ttl / 6, 0, 0, 0
	local all = redis.call('HGETALL', key)
	for i = 1, #all, 2 do
		if all[i] ~= 'bucket' then
			local _, share, weight, last = struct.unpack('>dddd', all[i+1])
			if now - last > ttl or last > now + ttl then
				redis.call('HDEL', key, all[i])
				if all[i] == lease then packed[2] = false end
			else
				shares, weights, holders = shares + share, weights + weight, holders + (share > 0 and 1 or 0)
			end
		end
	end
end

-- The tokens that were added since the last exchange, less those of shares and of absent replicas.
-- at is in the future if the clock was set back.
local function reserved(n) return math.min(left, math.max(0, replicas - n) / replicas) end
local missing = math.max(0, full_at - at)
missing = math.max(0, missing - (1 - shares - reserved(holders)) * math.max(0, now - at))

-- The lease has taken tokens by its share since then.
local before, share, weighed, last = known, 0, 0, now
if packed[2] then before, share, weighed, last = struct.unpack('>dddd', packed[2]) end
shares, weights = math.max(0, shares - share), math.max(0, weights - weighed)
if share > 0 then holders = holders - 1 end
local got = share * math.max(0, now - last) / every

-- It takes those that were used, and returns those that it does not want or that were overdrawn. The next
-- exchange returns those that it got since the last one: this one may arrive late, and they were used.
local taken = math.max(before + got, used)
taken = math.max(used, taken - math.max(0, missing + (taken - before - got) * every - fill) / every)
local spare = weight > 0 and math.max(0, math.min(got, taken - used - want)) or 0
taken = math.min(taken, used + want)
missing = missing + (taken + spare - before - got) * every
local more = math.max(0, math.min(used + want - taken, math.floor((fill - missing) / every)))
taken, missing = taken + more, math.max(0, missing + more * every)
total = total + taken + spare - before

share = 0
if weight > 0 then
	local n = holders + 1
	weights = weights + weight
	local free = 1 - math.max(least * math.max(0, replicas - n), reserved(n))
	share = math.min(least, free / n) + math.max(0, free - n * least) * weight / weights
	share = math.max(0, math.min(share, free - shares))
end
local kept = math.max(share, had) -- the replica has this if the response is lost
if kept > 0 then holders = holders + 1 end
shares = shares + kept
redis.call('HSET', key, 'bucket', struct.pack('>ddddddd', now + missing, now, total, shares, weights, holders, sums),
	lease, struct.pack('>dddd', taken + spare, kept, weight, now))
redis.call('PEXPIRE', key, math.ceil(math.max(missing, shares > 0 and ttl or 0) / 1000) + 10000)
local remaining = math.max(0, math.floor((fill - missing) / every))
return {math.floor(taken), math.floor(share * 1e9), remaining, math.ceil(missing),
	math.ceil(math.max(0, missing + every - fill)), math.floor(total)}
`

// holdScript registers the slots of a replica. KEYS[1] is a hash: h:REPLICA and w:REPLICA are
// the slots that a replica holds and wants, held and wanted the sums. KEYS[2] is a sorted set of
// the replicas by the end of their registration. ARGV is replica, max, used, want, the time
// to live, the slots that it may use so far, and those to leave to absent replicas, and AbsentTime of package
// lease; the result is the number of slots that it may use.
const holdScript = `
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local replica, max, used, want, ttl, had, left =
	ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[6]), tonumber(ARGV[7])
local function get(field) return tonumber(redis.call('HGET', KEYS[1], field) or 0) end
local held, wanted = get('held'), get('wanted')
local function remove(id)
	held, wanted = held - get('h:' .. id), wanted - get('w:' .. id)
	redis.call('HDEL', KEYS[1], 'h:' .. id, 'w:' .. id)
	redis.call('ZREM', KEYS[2], id)
end
local function clean(from, to)
	for _, id in ipairs(redis.call('ZRANGEBYSCORE', KEYS[2], from, to)) do
		remove(id)
	end
end
clean('-inf', now)
clean(now + ttl + 60000000, '+inf') -- the clock was set back
remove(replica)
if redis.call('ZCARD', KEYS[2]) == 0 then -- also if the server has evicted it
	redis.call('DEL', KEYS[1])
	held, wanted = 0, 0
end
if left > 0 then
	for _, id in ipairs(redis.call('ZRANGEBYSCORE', KEYS[2], '-inf', now + ttl - ARGV[8])) do
		left = left - get('h:' .. id) -- an absent replica whose slots have not ended
	end
	max = math.max(1, max - math.max(0, left))
end
local granted = 0
if used > 0 or want > 0 then
	wanted = wanted + want
	local share = want + math.floor((max - wanted) / (redis.call('ZCARD', KEYS[2]) + 1))
	if wanted > max then
		share = math.floor(max * want / wanted)
	end
	granted = math.max(1, math.min(share, max - held))
	local keeps = math.max(granted, used, had) -- it may use had if the response is lost
	held = held + keeps
	redis.call('HSET', KEYS[1], 'h:' .. replica, keeps, 'w:' .. replica, want)
	redis.call('ZADD', KEYS[2], now + ttl, replica)
end
redis.call('HSET', KEYS[1], 'held', held, 'wanted', wanted)
redis.call('PEXPIRE', KEYS[1], math.ceil(ttl / 500) + 10000)
redis.call('PEXPIRE', KEYS[2], math.ceil(ttl / 500) + 10000)
return granted
`

// joinScript registers a replica in the sorted set KEYS[1], by the time of the last response to it.
// ARGV is the replica, the time since that response, or -1 to remove it, and AbsentTime, ShareTTL and
// ReplicaTTL of package lease. The result has the number of replicas, and those of other replicas
// that are absent and gone.
const joinScript = `
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local key, replica, silent = KEYS[1], ARGV[1], tonumber(ARGV[2])
local absent, gone, ttl = now - ARGV[3], now - ARGV[4], tonumber(ARGV[5])
if silent < 0 then
	redis.call('ZREM', key, replica)
	return {0, 0, 0}
end
local new = redis.call('ZADD', key, now - silent, replica) == 1
redis.call('ZREMRANGEBYSCORE', key, '-inf', now - ttl)
redis.call('ZREMRANGEBYSCORE', key, now + 60000000, '+inf') -- the clock was set back
if new and now - silent > absent then
	for _, replaced in ipairs(redis.call('ZRANGEBYSCORE', key, '-inf', absent, 'LIMIT', 0, 1)) do
		redis.call('ZREM', key, replaced)
	end
end
redis.call('PEXPIRE', key, math.ceil(ttl / 1000) + 10000)
local function others(since)
	return redis.call('ZCOUNT', key, '-inf', since) - (silent < ttl and now - silent <= since and 1 or 0)
end
return {redis.call('ZCARD', key), others(absent), others(gone)}
`
