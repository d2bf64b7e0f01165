#!/usr/bin/env bash
# A pack as an OCI image layout through a client of others: skopeo copies it into a folder, and into a registry and back; every copy
# has the same bytes, and a folder unpacked from one the same kernels.
# Usage: oci.sh TMA-JIT
set -euo pipefail
command=$1
registry=$(command -v docker-registry || true)
if ! command -v skopeo > /dev/null || [[ -z $registry ]]; then echo "skipped: skopeo or docker-registry is not installed"; exit 77; fi
work=$(mktemp -d)
server=
trap '[[ -z $server ]] || kill "$server"; rm -rf "$work"' EXIT
copy() { skopeo --insecure-policy copy -q --src-tls-verify=false --dest-tls-verify=false "$@"; }
# The pack is the only layer.
layer_of() { python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["layers"][0]["digest"].split(":")[1])' "$1"; }

printf '%s\n' '{"kernel":"copy","arch":"sm_90a","dims":{"N":4096}}' '{"kernel":"map","arch":"sm_90a","dims":{"N":4096},"hooks":{"apply":"a + 1"}}' > "$work/list"
if ! "$command" warm -q --list "$work/list" --cache-dir "$work/cache" 2> "$work/said"; then
  grep -q nvrtc "$work/said" && { echo "skipped: no NVRTC"; exit 77; }
  cat "$work/said"
  exit 1
fi
"$command" cache keygen "$work/builder" > /dev/null
"$command" cache pack -q --oci --cache-dir "$work/cache" --sign "$work/builder.key" "$work/layout"

copy "oci:$work/layout:latest" "dir:$work/folder"
pack=$(layer_of "$work/folder/manifest.json")
cmp "$work/layout/blobs/sha256/$pack" "$work/folder/$pack"

for _ in 1 2 3 4 5; do  # until a port is free
  port=$((20000 + RANDOM % 20000))
  printf 'version: 0.1\nlog: {level: error}\nstorage: {filesystem: {rootdirectory: %s}}\nhttp: {addr: "127.0.0.1:%s"}\n' "$work/registry" "$port" > "$work/config.yml"
  "$registry" serve "$work/config.yml" > "$work/registry.log" 2>&1 &
  server=$!
  for _ in {1..100}; do
    kill -0 "$server" 2> /dev/null || break
    ! curl -sf "http://127.0.0.1:$port/v2/" > /dev/null || break 2
    sleep 0.1
  done
  kill "$server" 2> /dev/null || true
  server=
done
[[ -n $server ]] || { cat "$work/registry.log"; exit 1; }
copy "oci:$work/layout:latest" "docker://127.0.0.1:$port/team/kernels:v1"
copy "docker://127.0.0.1:$port/team/kernels:v1" "oci:$work/back:v1"
copy "docker://127.0.0.1:$port/team/kernels:v1" "dir:$work/pulled"
skopeo inspect --raw --tls-verify=false "docker://127.0.0.1:$port/team/kernels:v1" > "$work/manifest"
grep -q '"artifactType":"application/vnd.tma-jit.pack.v1"' "$work/manifest" || { echo "the registry's manifest has lost the artifact's type"; cat "$work/manifest"; exit 1; }
cmp "$work/layout/blobs/sha256/$pack" "$work/back/blobs/sha256/$pack"
cmp "$work/layout/blobs/sha256/$pack" "$work/pulled/$pack"

"$command" cache verify -q "$work/pulled/$pack" --pack-key "$work/builder.pub"
"$command" cache unpack -q "$work/pulled/$pack" --cache-dir "$work/unpacked" --pack-key "$work/builder.pub"
"$command" warm --prove --list "$work/list" --cache-dir "$work/unpacked" | tee "$work/proof"
TMA_JIT_CACHE_RO=$work/pulled/$pack TMA_JIT_PACK_KEYS=$work/builder.pub "$command" build copy N=4096 --arch sm_90a --cache-dir "$work/own" --json |
  grep -q '"compiled": false' || { echo "the pulled pack gives no kernel"; exit 1; }
echo "skopeo $(skopeo --version | cut -d' ' -f3) copied the pack of $(stat -c %s "$work/pulled/$pack") bytes to a folder, to a registry and back"
