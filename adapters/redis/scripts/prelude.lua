-- What every transition shares. A script reads through `load`, decides, changes tables only, and
-- writes once, in `commit`: an error on the way there has written nothing.
-- Timers are not set and dropped one by one: they follow from the records, and `commit` stores
-- the difference. The rules are those of core/transitions; a test walks both side by side.

local CLOCK, POLICY, DUE, OUT, WAKE, AUDIT, ASKED_INDEX = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6], KEYS[7]
local REPLY, HISTORY, OPS, SESSION, QUEUE, FOLLOWING = KEYS[8], KEYS[9], KEYS[10], KEYS[11], KEYS[12], KEYS[13]
local WEEK, WAKE_MS, LOOK_MS, CHECK_AGE_MS, MAX_RUNS, MAX_TRIES = 604800000, 5000, 60000, 15000, 3, 5

local R = cjson.decode(ARGV[1])
local FINAL = {done = true, rejected = true, denied = true, expired = true, cancelled = true, abandoned = true}
local ASKED = {open = true, task = true, unknown = true}
local GRANTED = {approved = true, allowed = true}
local TIMER = {kind = 'timer', id = 'timer', name = '', surface = ''}
local SYSTEM = {kind = 'system', id = 'system', name = '', surface = ''}

local clock = redis.call('HMGET', CLOCK, 'fixed', 'last')
local now
if clock[1] then
  now = tonumber(clock[1])
else
  local time = redis.call('TIME')
  now = math.max(time[1] * 1000 + math.floor(time[2] / 1000), tonumber(clock[2] or '0'))
end

local M                                   -- the reply's record
local C, present = {}, {}                 -- its calls by id; ids of the present turn, in order
local armed, was = {}, {}                 -- timers and call states before this step
local held_before = {}                    -- granted calls that could not start before this step
local dirty, wrote = {}, false
local orders, hints, changes, blobs = {}, {}, {}, {}
local audit

local function encode(value) return cjson.encode(value) end

local function answered()
  return R.name and redis.call('HGET', OPS, R.name)
end

local function member(kind, number, call, step, channel)
  return encode({kind, R.rid, number or 0, call or '', step or 0, channel or ''})
end

local function reply_timers(into)
  if M.state == 'ready' and M.wake_at then into[member('wake')] = M.wake_at end
  if M.state == 'running' and M.lease_until then into[member('lease', M.fence)] = M.lease_until end
end

local function call_timers(call, into)
  for _, card in ipairs(call.cards) do
    if card.look_at then into[member('look', 0, call.id, 0, card.channel)] = card.look_at end
  end
  if GRANTED[call.state] and call.grant_until then
    into[member('lapse', call.revision, call.id)] = call.grant_until
  end
  if not (ASKED[call.state] and call.deadline) then return end
  into[member('expire', call.revision, call.id)] = call.deadline
  local offset = call.terms.remind_ms[call.reminded + 1]
  if offset and call.asked_at + offset < call.deadline then
    into[member('remind', call.revision, call.id, call.reminded)] = call.asked_at + offset
  end
  local escalate = call.terms.escalate
  if escalate and not call.escalated and call.asked_at + escalate.after_ms < call.deadline then
    into[member('escalate', call.revision, call.id)] = call.asked_at + escalate.after_ms
  end
end

local function held_up(call)
  for _, id in ipairs(present) do
    local other = C[id]
    if other.state == 'started' and id ~= call.id and (call.terms.alone or other.terms.alone) then
      return true
    end
  end
  return false
end

local function note_call(id, record)
  C[id] = cjson.decode(record)
  was[id] = C[id].state
  call_timers(C[id], armed)
end

local function load()
  local record = redis.call('HGET', REPLY, 'm')
  if not record then return false end
  M = cjson.decode(record)
  reply_timers(armed)
  present = M.present
  if #present > 0 then
    local fields = {}
    for i, id in ipairs(present) do fields[i] = 'c:' .. id end
    for i, found in ipairs(redis.call('HMGET', REPLY, unpack(fields))) do note_call(present[i], found) end
  end
  for _, id in ipairs(present) do
    if GRANTED[C[id].state] and held_up(C[id]) then held_before[id] = true end
  end
  return true
end

-- The call that the request is about, if the reply has it in that turn.
local function the_call()
  local id = R.call
  if not C[id] then
    local found = redis.call('HGET', REPLY, 'c:' .. id)
    if not found then return nil end
    note_call(id, found)
  end
  if C[id].turn ~= R.turn then return nil end
  return C[id]
end

local function record(what, actor, note)
  wrote = true
  audit = {what = what, actor = actor, note = note}
end

local function order(kind, call, channel, step)
  local name = call.id .. '/' .. call.revision .. '/' .. kind .. (step or '')
  orders[#orders + 1] = {kind = kind, call = call, channel = channel, name = name}
end

local function quiet(call)
  wrote = true
  dirty[call.id] = true
end

local function show(call)
  call.version = call.version + 1
  for _, card in ipairs(call.cards) do
    if card.ordered then
      order('edit', call, card.channel)
    elseif ASKED[call.state] then
      card.ordered = true
      order('post', call, card.channel)
    end
  end
  changes[#changes + 1] = {call.id, call.before or was[call.id] or '', call.state, call.revision, call.runs}
  call.before = call.state
  quiet(call)
end

local function put(call, actor)
  call.by, call.at = actor, now
  show(call)
end

local function count(list, test)
  local ids = {}
  for _, id in ipairs(list) do
    if test(C[id]) then ids[#ids + 1] = id end
  end
  return ids
end

local function granted() return count(present, function(c) return GRANTED[c.state] end) end
local function running() return count(present, function(c) return c.state == 'started' end) end
local function unfinished() return count(present, function(c) return not FINAL[c.state] end) end

local function has_work()
  if M.stop or #granted() > 0 then return true end
  return #count(present, function(c) return ASKED[c.state] or c.state == 'started' end) == 0
end

local function ready()
  wrote = true
  M.state, M.lease_until, M.wake_at = 'ready', nil, now + WAKE_MS
  hints[#hints + 1] = R.rid
end

local function lost()
  if M.state == 'running' and M.fence == R.fence then return nil end
  return {k = 'Lost', state = M.state, fence = M.fence}
end

local function refused(why, call)
  if not call then return {k = 'Refused', why = 'no_such_call'} end
  local d = call.decision or {}
  return {k = 'Refused', why = why, state = call.state, revision = call.revision, by = call.by, at = call.at,
          decision = d.kind, decider = d.actor, decided_at = d.at}
end

local function settled(call) return {k = 'Settled', state = call.state, revision = call.revision} end

local function decided(call, kind, actor, note)
  call.decision = {kind = kind, actor = actor, at = now, revision = call.revision, note = note, op = note and R.op}
end

local function ask(call, state, because)
  local terms = call.terms
  local lasts = ({open = terms.timeout_ms, task = terms.task_timeout_ms, unknown = terms.unknown_timeout_ms})[state]
  call.state, call.because, call.revision, call.votes = state, because, call.revision + 1, {}
  call.asked_at, call.reminded, call.escalated = now, 0, false
  call.deadline, call.grant_until = now + lasts, nil
end

local function close(call, state, kind, actor, note)
  decided(call, kind, actor, note)
  call.state, call.deadline, call.grant_until = state, nil, nil
  put(call, actor)
end

local function lapse(call)
  record('lapse', TIMER)
  ask(call, call.runs > 0 and 'unknown' or 'open', 'lapsed')
  put(call, TIMER)
end

local function expire(call)
  record('expire', TIMER)
  close(call, call.state == 'unknown' and 'abandoned' or 'expired', 'expire', TIMER)
end

local function withdraw(call, actor, note)
  close(call, call.state == 'unknown' and 'abandoned' or 'cancelled', 'cancel', actor, note)
end

local function done(call, run, actor)
  call.state, call.done_run, call.deadline, call.grant_until = 'done', run, nil, nil
  call.seals.result = R.tag
  blobs['result:' .. call.id] = ARGV[2]
  put(call, actor)
end

-- The head of the session's queue must be the reply whose key was declared; else: ask again.
local function queue_moved()
  return (redis.call('LINDEX', QUEUE, 0) or '') ~= R.following
end

local closing, opened = false, nil         -- this reply closes; the next one's record
local function close_reply(outcome, fence)
  M.state, M.outcome, M.closed_at, M.closed_fence, M.lease_until = 'closed', outcome, now, fence, nil
  closing = true
  if R.following ~= '' then
    M.next_reply = R.following
    opened = cjson.decode(redis.call('HGET', FOLLOWING, 'm'))
    opened.state, opened.wake_at = 'ready', now + WAKE_MS
    hints[#hints + 1] = R.following
  end
end

local function settle()
  for _, id in ipairs(present) do
    local call = C[id]
    if held_before[id] and GRANTED[call.state] and call.grant_until and not held_up(call) then
      call.grant_until = now + call.terms.grant_lifetime_ms
      quiet(call)
    end
  end
  if M.state == 'parked' and has_work() then ready() end
end

local function store_timers()
  local wanted = {}
  reply_timers(wanted)
  for _, call in pairs(C) do call_timers(call, wanted) end
  for name in pairs(armed) do
    if not wanted[name] then redis.call('ZREM', DUE, name) end
  end
  for name, at in pairs(wanted) do
    if armed[name] ~= at then redis.call('ZADD', DUE, at, name) end
  end
end

local function store_calls()
  for id in pairs(dirty) do
    local call = C[id]
    call.before = nil
    redis.call('HSET', REPLY, 'c:' .. id, encode(call))
    local name = encode({R.rid, id})
    if ASKED[call.state] then
      redis.call('ZADD', ASKED_INDEX, call.asked_at, name)
    elseif ASKED[was[id]] then
      redis.call('ZREM', ASKED_INDEX, name)
    end
  end
  for field, blob in pairs(blobs) do redis.call('HSET', REPLY, field, blob) end
end

local agent                               -- the sealed agent state, when this step writes one
local function store_session()
  if agent then
    redis.call('HSET', SESSION, 'a_reply', R.rid, 'a_turn', M.turn, 'a_complete', M.outcome and 1 or 0, 'agent', agent)
  end
  if not closing then return end
  if not opened then
    redis.call('HDEL', SESSION, 'active')
    return
  end
  redis.call('LPOP', QUEUE)
  redis.call('HSET', SESSION, 'active', R.following)
  redis.call('HSET', FOLLOWING, 'm', encode(opened))
  redis.call('ZADD', DUE, opened.wake_at, encode({'wake', R.following, 0, '', 0, ''}))
end

local function store_messages()
  for _, o in ipairs(orders) do
    redis.call('XADD', OUT, '*', 'kind', o.kind, 'rid', R.rid, 'call', o.call.id, 'turn', o.call.turn,
               'channel', o.channel, 'name', o.name)
  end
  for _, rid in ipairs(hints) do redis.call('XADD', WAKE, 'MAXLEN', '~', 10000, '*', 'rid', rid) end
  if not audit then return end
  local line = encode({at = now, what = audit.what, actor = audit.actor, op = R.op or '', reply_id = R.rid,
                       session_id = M.session_id, tenant = M.tenant, state = M.state, changes = changes,
                       note = audit.note, call = R.call or ''})
  redis.call('RPUSH', HISTORY, line)
  redis.call('XADD', AUDIT, '*', 'record', line)
end

-- Everything of this step is written here, in one go. `keep`: the answer is kept under the op.
local function commit(answer, keep)
  local text = encode(answer)
  if wrote then
    settle()
    store_session()
    store_timers()
    store_calls()
    redis.call('HSET', REPLY, 'm', encode(M))
    store_messages()
    if not clock[1] then redis.call('HSET', CLOCK, 'last', now) end
  end
  if R.name and (keep or wrote) then redis.call('HSET', OPS, R.name, text) end
  if M.closed_at then
    for _, key in ipairs({REPLY, HISTORY, OPS}) do redis.call('PEXPIREAT', key, M.closed_at + WEEK) end
  end
  return {text}
end
