//! Messages between firmware and host in a core's mailboxes.

use super::packed::packed;

packed! {
    /// What a core is to run: an entry of the launch ring, 96 bytes.
    ///
    /// Processors come in the order BRISC, NCRISC, TRISC 0 to 2.
    LaunchMessage 96 {
        /// Kernel configuration base of Tensix cores; two more for other kinds of cores follow.
        kernel_config_base: u32 @ 0,
        /// The second of them.
        kernel_config_base_1: u32 @ 4,
        /// The third.
        kernel_config_base_2: u32 @ 8,
        /// Semaphores lie this far after the base.
        sem_offset: u16 @ 12,
        /// The same for other kinds of cores.
        sem_offset_1: u16 @ 14,
        /// The same for other kinds of cores.
        sem_offset_2: u16 @ 16,
        /// Circular buffer configurations lie this far after the base.
        local_cb_offset: u16 @ 18,
        /// Those that other cores see.
        remote_cb_offset: u16 @ 20,
        /// Arguments of BRISC lie this far after the base.
        rta_brisc: u16 @ 22,
        /// Its common arguments.
        crta_brisc: u16 @ 24,
        /// Arguments of NCRISC.
        rta_ncrisc: u16 @ 26,
        /// Its common arguments.
        crta_ncrisc: u16 @ 28,
        /// Arguments of TRISC 0.
        rta_trisc0: u16 @ 30,
        /// Its common arguments.
        crta_trisc0: u16 @ 32,
        /// Arguments of TRISC 1.
        rta_trisc1: u16 @ 34,
        /// Its common arguments.
        crta_trisc1: u16 @ 36,
        /// Arguments of TRISC 2.
        rta_trisc2: u16 @ 38,
        /// Its common arguments.
        crta_trisc2: u16 @ 40,
        /// 0: launched by the device, notifies the dispatch core; 1: by the host, does not.
        mode: u8 @ 42,
        /// Kernel text of BRISC lies this far after the base.
        text_brisc: u32 @ 44,
        /// Of NCRISC.
        text_ncrisc: u32 @ 48,
        /// Of TRISC 0.
        text_trisc0: u32 @ 52,
        /// Of TRISC 1.
        text_trisc1: u32 @ 56,
        /// Of TRISC 2.
        text_trisc2: u32 @ 60,
        /// A bit for each circular buffer that is set up.
        local_cb_mask: u32 @ 64,
        /// Network that BRISC uses.
        brisc_noc_id: u8 @ 68,
        /// Whether networks are dedicated or chosen at run time.
        brisc_noc_mode: u8 @ 69,
        /// First circular buffer that other cores see.
        min_remote_cb_start_index: u8 @ 70,
        /// For Ethernet cores.
        exit_erisc: u8 @ 71,
        /// Names the program in traces.
        host_assigned_id: u32 @ 72,
        /// A bit for each processor that runs.
        enables: u32 @ 76,
        /// Size of the NCRISC kernel in 16-byte units.
        ncrisc_kernel_size16: u16 @ 90,
        /// Column that the kernel takes as its first.
        origin_x: u8 @ 92,
        /// Row that the kernel takes as its first.
        origin_y: u8 @ 93,
        /// For launches in advance.
        preload: u8 @ 95,
    }
    /// Tells a core what to do, 4 bytes.
    GoMessage 4 {
        /// Which stream after the first is notified.
        message_offset: u8 @ 0,
        /// Column of the core to notify.
        master_x: u8 @ 1,
        /// Its row.
        master_y: u8 @ 2,
        /// One of the constants below.
        signal: u8 @ 3,
    }
}

impl LaunchMessage {
    /// `mode`: launched by the device.
    pub const DEVICE: u8 = 0;
    /// `mode`: launched by the host.
    pub const HOST: u8 = 1;
}

impl GoMessage {
    /// Signal: run what the launch message says.
    pub const GO: u8 = 0x80;
    /// Signal: the core has done so.
    pub const DONE: u8 = 0;
    /// Signal: the core is to start its firmware.
    pub const INIT: u8 = 0x40;
    /// Signal: the launch ring starts again at entry 0; answered and notified.
    pub const RESET_READ_PTR: u8 = 0xC0;
    /// Signal: the launch ring starts again at entry 0; left in place.
    pub const RESET_READ_PTR_FROM_HOST: u8 = 0xE0;
    /// Signal: run a trace again.
    pub const REPLAY_TRACE: u8 = 0xF0;
}
