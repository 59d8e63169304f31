; RUN: kc-opt farcl-flatten-address-spaces %s | FileCheck %s
target triple = "spir64"

; CHECK: %pair{{.*}} = type { ptr, i32 }
; CHECK-NOT: addrspace
; CHECK: @table = constant [2 x i32]
; CHECK: @box = internal global [8 x float] undef{{.*}} #[[LOCAL:[0-9]+]]
; CHECK: call void @llvm.memcpy.p0.p0.i64
; CHECK: attributes #[[LOCAL]] = { "farcl-local" }
%pair = type { ptr addrspace(1), i32 }
@table = addrspace(2) constant [2 x i32] [i32 1, i32 2]
@box = internal addrspace(3) global [8 x float] undef, align 4

define void @k(ptr addrspace(1) %a, ptr byval(%pair) %p) {
  %inner = load ptr addrspace(1), ptr %p
  %generic = addrspacecast ptr addrspace(1) %inner to ptr addrspace(4)
  %v = load i32, ptr addrspace(4) %generic
  %t = load i32, ptr addrspace(2) getelementptr inbounds ([2 x i32], ptr addrspace(2) @table, i64 0, i64 1)
  store i32 %v, ptr addrspace(3) @box
  store i32 %t, ptr addrspace(1) %a
  call void @llvm.memcpy.p1.p2.i64(ptr addrspace(1) %a, ptr addrspace(2) @table, i64 8, i1 false)
  %c = icmp eq ptr addrspace(4) %generic, addrspacecast (ptr addrspace(3) @box to ptr addrspace(4))
  ret void
}
declare void @llvm.memcpy.p1.p2.i64(ptr addrspace(1), ptr addrspace(2), i64, i1)
